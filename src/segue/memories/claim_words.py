"""The words by which a claim is read: what each does in a sentence.

English, German, French, Spanish, Chinese and Japanese. Words that name a subject stand in none of the roles.
"""

from __future__ import annotations

from typing import Literal

Role = Literal[
    "word",  # says what is spoken of
    "typed",  # a number, a time, a date
    "soft",  # says nothing here
    "also",  # adds to what was said before
    "it",  # points to a sentence before
    "this",  # the same, unless a noun follows
    "be",  # what follows is what the subject is
    "use",  # what follows is what the subject uses
    "made",  # the same, where a preposition follows
    "move",  # what follows is what is used from now on
    "prefer",
    "have",  # a number may follow
    "own",  # who stands before it owns, leads or maintains
    "preposition",
    "bound",  # a preposition or a condition that changes what is said
    "over",  # what follows was turned down
    "not",  # denies, however often it stands
    "ne",  # denies, unless another does
    "flip",  # turns what is said into its opposite
    "may",
    "must",
    "need",  # its denial forbids nothing
    "needless",
    "hedge",  # a denial of it denies little
    "every",  # the same; with a unit it is a number
    "always",  # the same, and it says nothing else
    "open",  # what is said is a question, a thought, or turned down
    "past",
    "and",
    "comma",
    "end",
    "month",
    "weekday",
    "count",  # a number in letters
    "ordinal",  # a place in a row, in letters
]

_WORDS: dict[Role, str] = {
    "soft": """
        a an the of our ours we us i my me mine your you their its there do does will shall should has been be being
        now currently today already still just exactly please any anymore longer more again usually generally
        internally itself themselves who what that where stay stays remain remains
        stayed even yet here everywhere spring summer autumn winter lately endpoint endpoints exposed turned out
        take takes taken place go goes happen happens der die das den dem des ein eine einen einem einer wir uns unser
        unsere unseren ich mein es sich zu jetzt aktuell derzeit bitte noch wird werden bleibt bleiben da so le la les
        un une des du notre nos nous je mon ma mes se s y on ce cette actuellement désormais il que el los las una
        unos unas nuestro nuestra nosotros yo mi lo ahora actualmente que
        """,
    "also": """
        also too additionally besides another further auch ausserdem außerdem zusätzlich aussi également también
        además
    """,
    "it": "it they he she him her er sie elle ils elles ello ella ellos él",
    "this": "this that these those dies diese dieser dieses esto este esta",
    "be": "is are am equals means called named ist sind heißt heissen heißen est sont es son s'appelle llama",
    "use": """
        use uses using used install installs chose choose chooses pick picks picked nutzen nutzt verwenden verwendet
        benutzen benutzt setzen utilise utilisons utilisent utiliser usa usan usamos utiliza utilizan utilizamos
        emplea
        """,
    "made": """
        run runs running written built implemented powered managed based läuft laufen geschrieben gebaut tourne
        tournent fonctionne écrit corre corren escrito hecho hace funciona
        """,
    "move": """
        moved switched migrated changed renamed replaced settled went decided gewechselt umgestellt umgezogen passé
        passés migré cambiado cambió migró migrado pasó
        """,
    "prefer": "prefer prefers preferred bevorzugt bevorzuge préfère préfèrent prefiere prefieren",
    "have": """
        have takes lasts allows contains holds costs handles serves keeps gets reaches answers returns hat haben
        dauert kostet dure tiene tienen dura
        """,
    "over": "over instead vs versus statt anstatt plutôt",
    "not": """
        not no never cannot can't don't doesn't won't isn't aren't hasn't haven't mustn't shouldn't nobody none
        nothing neither nor nicht kein keine keinen keinem keiner nie niemals niemand nichts pas jamais aucun aucune
        rien nunca jamás ningún ninguna nadie nada tampoco
        """,
    "ne": "ne n",
    "flip": """
        without avoid avoids avoiding stop stops stopped refrain skip skips ohne vermeiden vermeidet sans éviter sin
        evitar forbid forbids forbidden prohibit prohibits prohibited ban bans banned deny denies denied disallow
        disallows disallowed verboten untersagt verbietet interdit interdite interdits défendu prohibido prohibida
        prohibidos prohíbe disable disables disabled inactive deactivated off deaktiviert ausgeschaltet abgeschaltet
        inaktiv désactivé désactivée désactivés désactivées desactivado desactivada desactivados desactivadas inactivo
        inactiva apagado
        """,
    "may": """
        can may allow allows allowed permit permits permitted fine ok okay welcome acceptable enable enables enabled
        active activated erlaubt darf dürfen kann können gestattet aktiv aktiviert eingeschaltet permis permise
        autorisé autorisée autorisés peut peuvent activé activée activés activées actif active permitido permitida
        permitidos permite puede pueden activado activada activados activadas activo activa
        """,
    "must": "must doit doivent faut debe deben",
    "need": """
        need needs require requires required mandatory obligatory compulsory necessary braucht brauchen benötigt muss
        müssen nötig erforderlich pflicht verpflichtend obligatoire obligatoires nécessaire nécessaires requis requise
        obligatorio obligatoria obligatorios obligatorias necesario necesaria necesarios necesita necesitan
        """,
    "needless": """
        optional unnecessary needn't freiwillig unnötig facultatif facultative facultatifs optionnel opcional
        opcionales
        """,
    "hedge": """
        all each only merely necessarily both entirely but except jeder jede jedes alle nur unbedingt ausser außer
        tous toutes chaque seulement forcément sauf todos todas cada solo sólo solamente necesariamente salvo excepto
        """,
    "open": """
        might could would maybe perhaps possibly probably consider considered considering suggestion suggested suggest
        proposal proposed propose idea option rejected tried trying try whether imagine hypothetically wonder plan
        plans planned planning eventually someday vielleicht könnte könnten würde überlegen vorschlag eventuell
        geplant peut-être pourrait proposition envisage envisagé quizá quizás podría propuesta
        """,
    "past": """
        was were had did ran took met saw said wrote made broke began became came got gave fell formerly previously
        wasn't weren't hadn't didn't war waren hatte hatten lief liefen wurde wurden früher ehemals était étaient avait
        avaient auparavant era eran fue fueron estaba tenía antes
        """,
    "and": "and or & und oder sowie et ou",
    "end": "because so which weil denn sodass parce porque car aber mais pero however although though",
}

# Before a colon these say nothing of the matter.
LABELS = frozenset(
    """
        decision decided note notes todo fact claim summary preference procedure process next done bug fix idea tip
        question example warning important reminder lesson learned context goal result outcome update correction feat
        chore docs step entscheidung notiz hinweis décision nota decisión
        """.split()
)
_PREPOSITIONS: dict[str, str] = {
    "on": "on auf sur am",
    "in": "in into inside im en dans",
    "at": "at um à chez bei beim",
    "with": "with via through mit avec con",
    "to": "to onto zu zum zur nach au aux al",
    "from": "from aus von vom d de del",
    "by": "by par por durch",
    "for": "for für pour para",
    "under": "under unter sous bajo",
    "as": "as als comme como",
    "about": "about around roughly approximately nearly almost circa etwa ungefähr rund environ unos aproximadamente",
    "per": "per pro",
}
_OWNING: dict[str, str] = {
    "own": "own owns owned owner owners",
    "lead": "lead leads led leader",
    "maintain": "maintain maintains maintained maintainer maintainers",
    "head": "heads headed",
    "responsible": "responsible responsable responsables encargado encargada verantwortlich zuständig verantwortet",
    "leitet": "leitet leiter leiterin",
    "betreut": "betreut betreuer betreuerin",
    "dirige": "dirige lidera",
}
# These change what is said, so they belong to the claim; the value sets the canonical word.
_BOUNDS: dict[str, str] = {
    "before": "before vor avant",
    "after": "after après después",
    "during": "during while während pendant durante",
    "if": "if when unless once falls wenn sobald si quand lorsque cuando",
    "until": "until till bis jusque jusqu hasta",
    "since": "since seit depuis desde",
    "between": "between zwischen entre",
    "within": "within innerhalb",
    "above": "above below beneath beyond über",
    "max": "max maximum maximal maximale máximo máxima capped limit limited limits upper",
    "min": "min minimum minimal minimale mínimo mínima mínimos newer lowest",
}
_ALWAYS = "always immer toujours siempre"
# Several words that are one; longer ones first where one begins another.
_PHRASES: dict[str, tuple[Role, str]] = {
    "no more than": ("bound", "max"),
    "not more than": ("bound", "max"),
    "no later than": ("bound", "max"),
    "no slower than": ("bound", "max"),
    "no less than": ("bound", "min"),
    "not less than": ("bound", "min"),
    "at least": ("bound", "min"),
    "at most": ("bound", "max"),
    "up to": ("bound", "max"),
    "no longer": ("not", ""),
    "not only": ("open", ""),
    "not just": ("open", ""),
    "nicht nur": ("open", ""),
    "pas seulement": ("open", ""),
    "no solo": ("open", ""),
    "no way": ("open", ""),
    "used to": ("past", ""),
    "free of": ("flip", ""),
    "rather than": ("over", ""),
    "instead of": ("over", ""),
    "au lieu de": ("over", ""),
    "en lugar de": ("over", ""),
    "en vez de": ("over", ""),
    "even if": ("bound", "if"),
    "going to": ("open", ""),
    "a été": ("past", ""),
    "as well": ("also", ""),
    "by default": ("word", "default"),
}
_WEEKDAYS = (
    "monday mondays montag montags lundi lundis lunes",
    "tuesday tuesdays dienstag dienstags mardi mardis martes",
    "wednesday wednesdays mittwoch mittwochs mercredi mercredis miércoles",
    "thursday thursdays donnerstag donnerstags jeudi jeudis jueves",
    "friday fridays freitag freitags vendredi vendredis viernes",
    "saturday saturdays samstag samstags sonnabend samedi samedis sábado sábados",
    "sunday sundays sonntag sonntags dimanche dimanches domingo domingos",
)
_MONTHS = (
    "january jan januar janvier enero",
    "february feb februar février febrero",
    "march mar märz mars marzo",
    "april apr avril abril",
    "may mai mayo",
    "june jun juni juin junio",
    "july jul juli juillet julio",
    "august aug août agosto",
    "september sept sep septembre septiembre",
    "october oct oktober octobre octubre",
    "november nov novembre noviembre",
    "december dec dezember décembre diciembre",
)
ALSO_VERBS = frozenset(("may", "march", "mar"))  # months only beside a number or after a preposition
_COUNTS: dict[str, str] = {
    "1": "one",
    "2": "two zwei deux dos",
    "3": "three drei trois tres",
    "4": "four vier quatre cuatro",
    "5": "five fünf cinq cinco",
    "6": "six sechs seis",
    "7": "seven sieben siete",
    "8": "eight acht huit ocho",
    "9": "nine neun neuf nueve",
    "10": "ten zehn dix diez",
    "11": "eleven elf onze once",
    "12": "twelve zwölf douze doce",
}
ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth"
)
ORDINAL = {word: str(number) for number, word in enumerate(ORDINALS.split(), 1)} | {"last": "last"}

CLOCKS = {"noon": "12:00", "midday": "12:00", "mittag": "12:00", "midi": "12:00", "midnight": "0:00", "minuit": "0:00"}

# Each unit with its dimension and how many of the smallest of that dimension it is.
_UNITS: dict[tuple[str, float], str] = {
    ("time", 0.001): "ms millisecond milliseconds",
    ("time", 1): "s sec secs second seconds sekunde sekunden seconde secondes segundo segundos 秒 秒钟",
    ("time", 60): "min mins minute minutes minuten minuto minutos 分 分钟 分間",
    ("time", 3_600): "h hr hrs hour hours stunde stunden heure heures hora horas 小时 時間",
    ("time", 86_400): "d day days tag tage tagen jour jours día días 天 日 日間",
    ("time", 604_800): "week weeks woche wochen semaine semaines semana semanas 周 週間",
    ("months", 1): "month months monat monate monaten mois mes meses 个月 ヶ月 か月",
    ("months", 12): "year years jahr jahre jahren an ans année années año años 年",
    ("bytes", 1): "byte bytes",
    ("bytes", 1e3): "kb kib",
    ("bytes", 1e6): "mb mib",
    ("bytes", 1e9): "gb gib",
    ("bytes", 1e12): "tb tib",
    ("n", 1): """
        characters chars items entries pieces times zeichen einträge mal caractères fois caracteres veces 个 次 件 回
    """,
    ("%", 1): "% percent prozent pourcent",
}
UNITS = {word: unit for unit, words in _UNITS.items() for word in words.split()}

# Words of scripts that write no spaces: they cut a run of characters where they stand.
_DENSE: dict[tuple[Role, str], str] = {
    ("not", ""): "不会 不能 没有 不得 不 没 未 無い ません ない",
    ("flip", ""): "禁止 不允许 禁用 关闭 停用 无效 無効 不可 避免 避ける 除外",
    ("may", ""): "允许 可以 启用 开启 打开 有效 有効 許可 できる 可能",
    ("must", ""): "必须",
    ("need", ""): "需要 必要 必須",
    ("needless", ""): "不需要 无需 不用 不要求 可选 任意",
    ("be", ""): "是 为 は",
    ("use", ""): "使用 采用 改用",
    ("move", ""): "改为 换成 迁移到 切换到",
    ("open", ""): """
        是否 可能会 也许 考虑 如果 建议 计划 不仅 不一定 不是所有 検討 もし かもしれ 提案 だけでなく 必ずしも
    """,
    ("past", ""): "以前 曾经 曾 之前 でした だった ました 以前は",
    ("also", ""): "也 还 另外 も また",
    ("and", ""): "和 与 或 と や",
    ("soft", ""): "的 在 了 已 都 将 会 请 我们 该 目前 现在 では には この その こと 常に 总是 は、 うちの 私たち",
    ("end", ""): "因为 所以 因此 ので から",
    ("hedge", ""): "只有 仅 所有 每个 だけ のみ すべて",
    ("preposition", "for"): "用于 对于",
    ("preposition", "to"): "到",
    ("preposition", "from"): "从",
}
_DENSE_DAYS = {"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6}
_KANJI_DAYS = "月火水木金土日"

# Names that stand for one another ("~" is a space): of one kind a thing has one, unless its kind is in `MANY`.
_CLASSES: dict[str, str] = {
    "database": """
        postgresql postgres mysql mariadb sqlite mongodb oracle cockroachdb duckdb dynamodb cassandra couchdb firebird
        """,
    "warehouse": "snowflake bigquery redshift databricks clickhouse",
    "search engine": "elasticsearch opensearch solr meilisearch typesense",
    "cache": "redis valkey memcached dragonfly",
    "broker": "kafka nats rabbitmq pulsar sqs activemq redpanda",
    "job queue": "celery dramatiq rq huey sidekiq resque",
    "language": """
        python go golang rust java kotlin typescript javascript ruby php elixir scala swift c c++ c# perl haskell
        ocaml zig
        """,
    "speech": """
        english german french spanish portuguese italian dutch polish japanese chinese korean russian swedish danish
        deutsch englisch französisch spanisch anglais français allemand espagnol inglés español alemán francés
        """,
    "spelling": "british american canadian australian",
    "frontend": "react vue svelte angular solid preact ember",
    "mobile": "flutter swiftui ionic react~native react-native jetpack~compose",
    "backend": "django flask fastapi rails laravel spring express gin phoenix",
    "vcs": "git mercurial subversion svn fossil perforce",
    "ci": "jenkins buildkite circleci travis teamcity drone woodpecker github~actions gitlab~ci azure~pipelines",
    "forge": "github gitlab bitbucket gitea forgejo codeberg",
    "cloud": "aws gcp azure hetzner digitalocean ovh linode scaleway heroku",
    "provisioning": "terraform ansible pulumi chef puppet saltstack opentofu",
    "deployment": "helm kustomize argocd flux nomad swarm",
    "python packages": "pip poetry uv pipenv pdm conda",
    "javascript packages": "npm yarn pnpm bun",
    "bundler": "webpack vite rollup esbuild parcel turbopack",
    "monorepo": "bazel nx turborepo pants buck lerna",
    "python tests": "pytest unittest nose",
    "javascript tests": "jest vitest mocha jasmine",
    "browser tests": "playwright cypress selenium puppeteer",
    "linter": "ruff flake8 pylint eslint biome",
    "types": "mypy pyright pyre",
    "editor": "vim neovim emacs vscode zed sublime helix",
    "chat": "slack mattermost zulip discord teams rocketchat",
    "tracker": "jira linear trello asana youtrack redmine",
    "error tracker": "sentry glitchtip rollbar bugsnag",
    "payments": "stripe adyen paypal mollie braintree",
    "gateway": "kong traefik nginx envoy caddy haproxy apache",
    "licence": "mit apache-2.0 gpl gplv3 gpl-3.0 agpl agpl-3.0 bsd bsd-3-clause mpl mpl-2.0 isc unlicense proprietary",
    "branch": "main master develop trunk",
    "hash": "bcrypt argon2 argon2id scrypt pbkdf2 md5 sha-1 sha-256 sha256 blake3",
    "identifier": "uuid ulid serial nanoid",
    "format": "json yaml toml xml csv parquet protobuf avro msgpack ini",
    "protocol": "rest graphql grpc soap json-rpc",
    "case": "camelcase snake_case kebab-case pascalcase",
    "indent": "tabs spaces tab space",
    "access": "public private internal secret öffentlich privat publique privé público privada privado",
    "state": "open closed offen geschlossen ouvert fermé abierto cerrado",
    "light": "light dark hell dunkel clair sombre claro oscuro",
    "pace": "sync async synchronous asynchronous",
    "hand": "manual automatic manually automatically manuell automatisch",
    "rank": "high low medium critical",
    "verdict": "approved rejected pending accepted declined",
    "memory": "stateless stateful",
    "system": "linux windows macos freebsd",
    "linux": "debian ubuntu fedora alpine arch centos rocky nixos",
    "browser": "firefox chrome chromium safari edge",
    "encoding": "utf-8 utf-16 latin-1 ascii iso-8859-1",
    "currency": "euro euros dollar dollars cents usd eur gbp chf yen",
}
MANY = frozenset(
    "language speech database format protocol system browser backend cloud cache currency identifier".split()
)

# What is one thing, so that "its X is Y" leaves no room for another Y.
ATTRIBUTES = frozenset(
    """
    name colour color owner lead port branch license licence format path file folder directory url host hostname
    domain version default zone language theme key channel size level mode type method algorithm encoding separator
    delimiter strategy policy manager framework database engine provider vendor currency unit location region deadline
    day role title status priority address number id address prefix suffix font editor shell runtime linter formatter
    tracker queue cache bus gateway broker backend store registry partner contact timeout interval schedule frequency
    locale primary main capital standard start leiter farbe sprache zweig pfad datei ordner adresse titel nom couleur
    langue branche chemin fichier nombre color idioma rama ruta archivo puerto versión
    数据库 端口 负责人 分支 名称 版本 语言 颜色
    データベース ポート ブランチ 担当者 名前 言語 バージョン
    """.split()
)
# Verbs with the prepositions after which they leave room for one thing only; "is" stands for the verb of being.
ONE_PLACE: dict[str, frozenset[str]] = {
    "in": frozenset(
        "is store kept keep host locat live sit manag want like answer gespeichert gehostet stocké hébergé".split()
    ),
    "on": frozenset("host serv deploy listen gehostet hébergé alojado".split()),
    "with": frozenset("build manag hash encrypt deploy test sign format ship format verschlüsselt".split()),
    "by": frozenset("review approv run".split()),
    "to": frozenset("set pin default deploy publish ship report bound send go".split()),
    "from": frozenset("deploy build releas serv ship cut".split()),
    "under": frozenset("licens publish releas".split()),
    "at": frozenset("is host".split()),
    "as": frozenset("store return publish".split()),
}
# What is done with one thing may be done with another: no other number of these is a contradiction.
REPEATED = frozenset(
    """
    support speak accept read see ask fix close includ know answer return mean mention describ discuss visit buy
    unterstützt prend supporte soporta lit liest
    """.split()
)
NUMBERED = frozenset(  # a number after one of these names the thing
    """
    chapter step issue ticket section page line sprint phase error room pr task question figure table item episode
    kapitel schritt seite abschnitt zeile chapitre étape page ligne capítulo paso página línea
    """.split()
)
DATED = frozenset(  # what has one date
    """
    start end begin expir launch ship close open renew due freez deadlin endet beginnt startet commence finit termine
    empieza termina
    """.split()
)
GENERAL = frozenset(  # a key that does not say whose
    """
    name titl type id ref date time status file path url key value version owner author result seed data sourc model
    best
    """.split()
)
EVERYWHERE = frozenset(  # where something runs is never what it is
    "staging production prod dev development test testing local locally ci preview sandbox produktion".split()
)
SAME: dict[str, str] = {  # words for one another
    "released": "releas",
    "licence": "licens",
    "license": "licens",
    "colour": "color",
    "timeout": "timeout",
    "repo": "repositori",
    "config": "configur",
    "db": "databas",
    "postgres": "postgresql",
    "docs": "document",
}
# Other spellings of names.
ALIASES: dict[str, str] = {
    "postgres": "postgresql",
    "mongo": "mongodb",
    "golang": "go",
    "js": "javascript",
    "ts": "typescript",
    "k8s": "kubernetes",
    "gplv3": "gpl-3.0",
    "sha256": "sha-256",
    "tab": "tabs",
    "space": "spaces",
    "euro": "euros",
    "eur": "euros",
    "dollar": "dollars",
    "usd": "dollars",
}
# Words with their opposites, which turn what is said.
OPPOSITES: dict[str, str] = {
    "unsafe": "safe",
    "insecure": "secure",
    "unstable": "stable",
    "impossible": "possible",
    "invalid": "valid",
    "unavailable": "available",
    "incompatible": "compatible",
    "unsupported": "supported",
    "immutable": "mutable",
    "unreachable": "reachable",
    "unencrypted": "encrypted",
    "exclude": "include",
    "excludes": "includes",
    "excluded": "included",
    "excluding": "including",
    "reject": "accept",
    "rejects": "accepts",
    "dislike": "like",
    "dislikes": "likes",
    "hide": "show",
    "hides": "shows",
    "hidden": "shown",
}


def _lexicon() -> dict[str, tuple[Role, str]]:
    found: dict[str, tuple[Role, str]] = {word: (role, "") for role, words in _WORDS.items() for word in words.split()}
    found |= {word: ("preposition", name) for name, words in _PREPOSITIONS.items() for word in words.split()}
    found |= {word: ("own", name) for name, words in _OWNING.items() for word in words.split()}
    found |= dict.fromkeys(_ALWAYS.split(), ("always", ""))
    found |= {word: ("ordinal", number) for word, number in ORDINAL.items()}
    found["every"] = ("every", "")
    found |= {word: ("bound", name) for name, words in _BOUNDS.items() for word in words.split()}
    found |= {word: ("weekday", str(day)) for day, words in enumerate(_WEEKDAYS) for word in words.split()}
    found |= {word: ("month", str(month)) for month, words in enumerate(_MONTHS, 1) for word in words.split()}
    found |= {word: ("count", number) for number, words in _COUNTS.items() for word in words.split()}
    return found


def _dense() -> dict[str, tuple[Role, str]]:
    found = {word: meant for meant, words in _DENSE.items() for word in words.split()}
    for week in ("周", "星期", "礼拜"):
        found |= {
            f"{week}{sign}": ("weekday", str(day)) for sign, day in _DENSE_DAYS.items() if week != "周" or sign != "天"
        }
    found |= {f"{sign}曜{end}": ("weekday", str(day)) for day, sign in enumerate(_KANJI_DAYS) for end in ("日", "")}
    return found


LEXICON = _lexicon()
DENSE = _dense()
PHRASES = _PHRASES
CLASSES: dict[str, frozenset[str]] = {}
for _name, _members in _CLASSES.items():
    for _member in (_name, *(each.replace("~", " ") for each in _members.split())):
        CLASSES[_member] = CLASSES.get(_member, frozenset()) | {_name}
