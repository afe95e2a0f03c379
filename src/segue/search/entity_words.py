"""Words that tell names from what merely stands capitalised: openers, labels, times, trade words, known names."""

from __future__ import annotations

from segue.search.stopwords import STOP_WORDS

# What a sentence may begin with before a name follows: `Ask Jonas`, `However, Redis`; and labels: `Goal: `. English,
# German, French and Spanish.
ENGLISH_OPENERS = STOP_WORDS | frozenset(
    """
    absolutely across action actions actually add added address afterwards against agenda agent ago agree agreed
    ah aha allergic allergies allergy allow almost alone along already alright although always amid among another
    any anybody anyone anything anytime anyway anyways apart api apologies apparently apply appreciate archive
    around ask asked assistant assume attend attendees avoid aw away awesome aww back backend background backup
    bad bake based basically beautiful because behind believe believes below beneath beside besides best bet
    better between beyond biggest birthday block bonus book born borrow bot both bought branch bring budget bug
    build builds built bummer bump busy buy bye cache call called cancel cannot car care catch cause caveat
    celebrate change changed chat check cheers choose chose clean clear client clone close closed cluster collect
    come commutes compare compared conclusion configure congrats congratulations connect consequence consequences
    consider constraint contact context continue convert cook cool copy cost count crazy create created curious
    currently customer customers cut cute database date deadline dear debug decide decided decision decrease
    default define definitely definition delete deny deploy deprecated describe despite details difficult
    direction disable discovered dislikes document domain done download dozens draft drink drinks drive drives
    drop dropped each earlier easy eat eats edit eight either else email enable encrypt enforce enjoy enjoys
    ensure environment epic error escalate especially estimate evaluate even eventually ever every everybody
    everyone everything everywhere exactly example examples excellent except excited exciting expect expected
    explain explore export extend extra extract fact facts fail failed famous fantastic favorite favourite feed
    feedback feel fetch few fewer file filed final finalise finalize finally find fine finish fire first five fix
    fixed fly follow followup forbid force forget forward found four free fresh frontend full funny gather
    generally generate give given glad go goal goals going gonna good goodbye got gotcha gotta grab grant great
    guess haha half handle handover hang happy hard hardly hates heard hello help hence hey hi hire hmm hobbies
    hobby hold honest hope hopefully hopes hosting hosts however huge huh hypothesis idea ideal ignore imagine
    implement import important impressive including increase incredible indeed index infra initialize injury input
    inside inspect install instead integrate interesting interview introduce intuition investigate invite isolate
    issue item items joined keen keep kept know knows kudos language last lastly lately later latest laugh learn
    learned least leave left less lesson lessons let like liked likely likes limit list lives loads local location
    lock log lol long look looks lots love loved loves lucky made mail mainly make makes many map married match
    maybe mean meanwhile measure meet meeting mental mention mere merge merged message met method methods migrate
    mind mine missed mock monitor morning most mostly mount move moved much must mute nah name near nearly need
    needs neither never nevertheless new next nice nine no nobody none nonetheless nope nor normalize normally
    note notes nothing notice notify now nowhere obviously occasionally often oh ok okay old older onboard one
    only onto oof ooh oops open opened optimise optimize order originally otherwise ouch outcome output outside
    overall override owner owns pack paid parse part participants pass patch pay per perhaps persist pet pets
    phase phew phone pick ping pinned pity plain plan plans plays pleasant please plus point poll port positive
    possibly postpone prefer preference preferences preferred prefers prepare present press pretty previously
    print priority probably problem process profile progress prohibit promise promised proposal proud provision
    prune publish pure purge purpose push put question quick quiet quite ran rare rather rationale read reading
    ready real reason rebase rebuild recall recently recommend record redirect reduce refactor reference refresh
    register reinstall reject rejected release released reload remain remains remember remind remove removed
    rename renamed render renew reorder replace replaced reply repo report reports repository request require
    requirement requirements research reserve resolve respond restart restore result retry return returns reuse
    revert reverted review rewrite right risk risks role rotate roughly route rule rules run running runs sad said
    sanitize save saw say scale scan schedule scope scrub second section secure see seed seems select sells send
    sent separate serve server service services set settle seven several shame share ship shipped short show shut
    sign similarly simple simplify simply since six skip snapshot solution some someday somehow something
    sometimes soon sorry sort sounds source speak speaks split spoke spouse squash stack start started starting
    state status stay stayed step steps stick still stop store strict strong stub studies stuff style subject
    submit subscribe such suddenly suggest summarise summarize summary super support suppose sure surely swap
    sweet switch switched symptom symptoms sync system take taken takes talk talked task tasks teach teaches team
    tell ten term test tested text thank thanks therefore think thinks third though three throttle throughout thus
    ticket tighten till tip title today todo todos together toggle tomorrow tonight tons took tool topic total
    totally tough toward towards trace track train transfer translate travel tried trigger trim truly trust try
    trying tune turn turned tweak twelve two type ugh uh um unblock uncertain undo unfortunately unify uninstall
    unless unlike unlock unpin unresolved until unused update updated upgrade upgraded upload upon use used useful
    user uses usually validate value various vendor verify version via visit wait waited walk wanna want wanted
    wants warning wash watch water way wear website weird welcome well went whatever whenever whereas wherever
    whether whew whichever whoa whoever whomever why wire wish wishes within without woah wonderful wondering
    woohoo work worked works worse worst wow wrap write wrote yay yeah yep yes yesterday yesterday's yet you'll
    young yup
    """.split()
)
OPENERS = (
    ENGLISH_OPENERS
    | frozenset(
        """
        aber alle alles als alte am an auch auf aus bei beim bitte danach danke dann das dass dein deine dem den der des
        die diese diesen dieser dieses dort du durch ein eine einem einen einer eines entscheidung er erst erste es für
        gegen gestern grund haben hallo hat heute hier ich ihr im in ist ja jede jeder jedes kann kein keine kunde
        kunden können letzte letzten man mein meine meinem meinen mit morgen muss müssen nach nein neue neuen neuer
        neues nicht noch nur nutzer nächste nächsten oder ohne schon sehr sein seine seit sie sind soll sollen und unser
        unsere unserem unseren unter vom von vorher wann war warum was weil wenn wer werden wie wir wird wo wurde ziel
        zu zum zur über
        """.split()
    )
    | frozenset(
        """
        après au aujourd'hui aux avant avec ayer bonjour car ce ces cet cette chez comme como con cuando dans de
        decisión demain depuis des desde donc du décision el ella elle elles ellos entre esa ese esta estas este estos
        et faut gracias hasta hay hier hola hoy il ils je la las le les leur leurs lo los ma mais mañana merci mes mi
        mis mon motivo muy más ne ni no non nos nosotros notre nous nuestra nuestro nuestros o objectif objetivo on or
        ou oui par para pas pendant pero plus porque pour quand que raison sa sans ses si sin sobre son sous su sur sus
        sí ta también tes toda todas todo todos ton tous tout toute toutes tu tus un una unas une unos usa usar usted
        ustedes vers voici voilà vos votre vous y ya yo
        """.split()
    )
)

# Parts of dates and the names of languages and nations as adjectives: no names where they stand alone.
SEASONS = frozenset("spring summer autumn winter frühling sommer herbst".split())
TIMES = frozenset(
    """
    am apr april aug august bst cest cet dec december dezember dienstag dimanche domingo donnerstag edt est feb
    februar february freitag fri friday fridays gmt ist jan januar january jeudi jueves jul juli july jun june juni
    lundi lunes mai mar march mardi martes may mercredi mittwoch miércoles mon monday mondays montag märz nov
    november oct october oktober pdt pm pst samedi samstag sat saturday saturdays sep sept september sonntag sun
    sunday sundays sábado thu thur thurs thursday thursdays tue tues tuesday tuesdays utc vendredi viernes wed
    wednesday wednesdays
    """.split()
)
TONGUES = frozenset(
    """
    african american arabic asian australian austrian basque belgian bengali brazilian british bulgarian canadian
    cantonese catalan chinese croatian czech danish deutsch dutch egyptian englisch english european finnish
    französisch french gaelic german greek hebrew hindi hungarian icelandic indian indonesian irish israeli italian
    japanese korean latin malay mandarin mexican norwegian persian polish portuguese romanian russian scottish
    serbian slovak spanisch spanish swahili swedish swiss tamil thai turkish ukrainian urdu vietnamese welsh
    """.split()
)
# Holidays and such that a weekday belongs to.
BEFORE_WEEKDAY = frozenset("black good easter cyber ash".split())

# Trade words in capitals, units, keywords: ideas, not things with a name.
TRADE = frozenset(
    """
    2fa a/b ab acid acl acls adr adrs afaik ai aka all alter always and any api apis ar asap ascii asr ast attention
    b2b b2c bdd begin bom bp bst btw cad cam cap caution cd cdn cdns cds ceo cfo changelog chf ci cio ciso cli cm
    cmo cms commit con coo cpu cpus cqrs create crm crud csr cto cv dag dags danger dao db dba dbs ddd debug delete
    drop dry dsl dto dvd elt em end eod eof eow erp error eta etl eur evp false faq faqs fatal fixme from fyi gb gbp
    gc get ghz gib gps gpu gpus gui guid hdd hdmi head high hp hq hr hz i/o iaas ic id ide ides ids ii iii imho imo
    important index info inner insert into io ip ips it iv ix jit join jpy kb kg khz kib kiss km kpi kpis kw kwh lan
    lcd led left lgtm license llm llms low mb medium mfa mhz mib ml mm mr must mvc mvp mvps nas nb never new nil nlp
    no none not note null ocr off okr okrs old on only oom ooo optional options or orm orms os otp outer p&l p.s
    paas patch pc pcs pdfs pii pin pm pms po poc pocs pos post pr pro prs ps pto put pwa q&a qa qe r&d rag ram rbac
    rdbms readme repl required rest rfc rma roi rollback rom rpo rto saas sdk sdks select should sim sku skus sla
    slas sli slo slos sms solid spa sre sres ssd sse sso ssr stop svp swe table tb tba tbd tdd tl;dr tldr todo todos
    true tts tui tv ui ulid update urgent uri uris url urls usb usd uuid uuids ux values vat vi vii viii vm vms vp
    vpc vpcs vpn vpns vps vr wan warning where wip xi xii xp yagni yes
    """.split()
)

# Nouns that are written with a capital inside sentences too and name nothing by themselves: `Section 3`, `my Mom`.
COMMON = frozenset(
    """
    active appendix blocked bullet button caption chapter class completed critical dad daddy day disabled done draft
    enabled failure figure file gate god grandma grandpa group heaven high home inactive internet issue level line low
    mama medium milestone mom mommy month mum note notes option owner page papa part pending phase plan point project
    question role room round section settings sprint step success successful tab team terminal ticket tier unknown
    version web week year
    """.split()
)
# Nouns that begin sentences without an article, so that a verb behind them proves nothing.
BARE = frozenset(
    """
    access account adventure advice agent air alcohol alert alerts animals anime apartment app archery art arts
    astronomy athletics auth authentication authorization automation baby backend backups badminton ballet bandwidth
    baseball basketball beer bees billing birds blood books boss bot boxing branch bread breakfast brother bug bugs
    build business butter button cache caches caching calculus call camp car cash cat cats certificate cheese
    chemistry chess children chocolate christmas churn ci cinema clay client clients climate clothing cluster code
    coffee column comedy comics commit community compliance concurrency config configuration consensus consent contact
    container content coverage crash crawling cricket crime culture customer dance dark dashboard data database
    daughter db death debt demand dentist deploy deployment design designers developers diet dinner dirt discipline
    discovery disk doctor doctors documentation dog dogs downtime draft drama dreams dust dyslexia economics education
    ego email emotion encryption endpoint energy engineers entropy error errors events evidence exception exercise
    failover faith fallback family fantasy fashion fate father fear feedback fiction field fish fitness flight flour
    flowers folk food footage football form freedom friction friends friendship frontend fruit fuel fun function
    furniture games garbage garden garlic gas geography geometry gold gossip grammar grass gravity grief growth guitar
    gym habit happiness hardware hate health heart heat heating help history hockey homework hope horror horses
    hosting hotel house humor humour hunger husband hygiene ice ideas incident index indoors information
    infrastructure injury insurance inventory invoice jazz jewelry jitter job journalism judo justice karate key kid
    kids kitchen knowledge lag landlord laptop latency laughter laundry lava law library life light lint linting
    literature localisation localization lock-in logic login logout logs love luck luggage lunch mail maintenance
    management manager managers math maths meat media medicine meeting memories memory mercury merging metadata
    metrics migrations milk mindfulness mist mobile model module moments money monitoring mother mud music mystery
    nature neighbor neighbors neighbour neighbours netball network news nobody node noise nurses observability oil
    onboarding opera order outage overhead package packaging paging pain paint paper parents parity parking password
    pasta patience patient payload payment payments payroll peace people performance philosophy phone physics piano
    pipeline pizza plastic poetry politics pottery poverty power pricing pride printer privacy procurement production
    profit progress proof property psychology quality queries queue rain recall release reliability rent repo report
    repository revenue review rice rollback roommate router routing rugby sales salt sample sand schema school science
    scope script scrolling sculpture search security serialisation serialization server servers service sex shame
    shipment signup silence silk sister site skill sleep smoke snow soap soccer society software soil solitude son
    sound space speed sports staff staging stamina steam steel stone storage strength stress student stuff success
    sugar suite supplier support surf sushi swap swimming sync table talent taste tax taxes tea teacher teammate
    teamwork tech technology telemetry tenancy tennis test tests theft therapy thing things throughput thunder ticket
    time timeouts timing token tooling traffic train training transport travel trips trouble trust truth turnover type
    uptime usage user users vacation validation variable velocity vendor versioning vet video violence visibility
    volleyball war water wealth weather website weight wife wildlife wind wine wisdom wood wool worker workflow
    writing yoga
    """.split()
)
NO_NAME_ENDINGS = (
    "tion", "sion", "ment", "ness", "ity", "ance", "ence", "ency", "ancy", "ship", "ism", "hood", "ware", "ology", "ly",
    "ing", "ings", "ability", "graphy", "ball", "ics",
)  # fmt: skip
CONTRACTED = frozenset("s t m d ll re ve".split())  # after an apostrophe
# Words that end like a participle or an adverb and are names all the same.
NO_MODIFIERS = frozenset(
    """
    alfred beijing beverly boeing chongqing emily fleming hastings irving italy kimberly manfred mildred mohammed
    muhammad nanjing reading sicily siegfried spring sterling thessaly united waverly wilfred winifred
    """.split()
)

DEPARTMENTS = frozenset("marketing engineering accounting purchasing procurement operations".split())

# After a single word at the start of a sentence these make it somebody or something with a name: `Priya prefers`.
NAME_VERBS = frozenset(
    """
    accepted accepts acquired adopted adopts agreed agrees aime allowed allows announced approved approves arbeitet
    argued argues arrive arrived arrives asked asks ate baut became becomes bekommt believes bleibt blocked blocks
    booked books bought braucht breaks brings bringt broke brought builds built called calls came can can't canceled
    cancelled cares celebrated celebrates charges closed closes comes commutes complained complains confirmed confirms
    connaît cooked cooks costs could crashed crashes cree decided decides demoed demos denkt deployed deploys designed
    designs dice did didn't dijo dirige disliked dislikes dit does doesn't doit drank draws drew drinks drives dropped
    drops drove eats ended ends enjoyed enjoys es est estudia está expected expects explained explains failed fails
    feels findet finds finished finishes fixed fixes flew flies forgets forgot found fue fährt gave geht gets gives
    goes got graduated grew grows gère habite habla had handled handles has hasn't hat hated hates heißt helped helps
    hilft hired hopes hosted hosts insisted insists introduced invited is isn't isst ist joined joins joue juega kann
    keeps kept kills knew knows kommt kümmert lacks launched leads leaves lebt led left leitet lernt liefert liked
    likes lived lives llega lleva looks loses lost loved loves macht made mag maintains makes manages married meint
    mentioned mentions mentored merged merges migrated migrates moved moves muss möchte necesita needed needs noticed
    notices nutzt offered offers opened opens owned owns paid parle pays pense peut piensa planned plans played plays
    powers preferred prefers prefiere promised propose provided provides préfère prüft puede pushed pushes quiere
    raised raises ran reached reaches reads recommended recommends rejected rejects released remembered remembers
    replied replies reported reports required requires retired returns reviewed reviews rewrote runs sagt sagte said
    says schickt schreibt seems sells sends sent served serves shipped ships should sleeps slept sold soll speaks
    spielt spoke started starts stayed stays stores studiert studies suggested suggests supports switched switches
    takes taught teaches tells tested thinks thought tiene told took trabaja travaille traveled travelled travels
    trinkt turned turns understands usa used uses utilise va vende verwendet veut viene vient visited visits vive
    wanted wants was wasn't went will wins wohnt won won't worked works would writes wrote zieht était übernimmt
    """.split()
)

# Institutions that a possessive may name: `St. Mary's Hospital`, `New Year's Eve`.
INSTITUTIONS = frozenset(
    """
    bakery bar bay cafe café cathedral church clinic college day deli diner eve garden gardens hall hospital hotel
    house island market museum park pizzeria pub restaurant road school square street theater theatre university
    """.split()
)
TITLES = frozenset("dr mr mrs ms prof st sr sra hr fr mme mlle dott ing rev gen sen gov capt sgt lt col".split())
ABBREVIATIONS = TITLES | frozenset(
    "vs e.g i.e cf resp approx etc incl no nr z.b d.h u.a bzw ca al p.s inc ltd co".split()
)
GERMAN_TITLES = frozenset("herr herrn frau familie doktor professor".split())

# Tools that are known and written in small letters, and names that a sentence often begins with.
TOOLS = frozenset(
    """
    aiohttp airflow alembic ansible asyncio bash bitbucket clang clippy cmake conda curl dagster dbt debian deno
    django docker duckdb elasticsearch emacs esbuild eslint etcd fastapi ffmpeg firebase flake8 gcc gdb git github
    gitlab golang gpg gradle grafana grpc gunicorn haproxy homebrew httpx huggingface imagemagick ios ipad iphone
    isort jax jq jupyter k3s k8s kafka keras kibana kubectl linux llvm logstash macos mariadb matplotlib maven
    memcached mocha mongodb mypy mysql neovim nextjs nginx nodejs npm npx numba numpy ollama opensearch openssl
    pandas pandoc pip pipenv pipx playwright pnpm podman postgres postgresql prettier prometheus protobuf pulumi
    pydantic pylint pyright pytest pytorch rabbitmq redis ripgrep rsync ruff rustc scipy selenium sklearn sqlalchemy
    sqlite ssh streamlit supabase svelte systemd tensorflow terraform tmux tox ubuntu uv uvicorn valgrind vim vite
    vitest webpack wget xdist yarn zsh
    """.split()
)
GIVEN_NAMES = frozenset(
    """
    adam ahmed aisha alan alejandro alex alexander alice amelia amir amy ana andrea andreas andrew angela anita anna
    anne anton antonio arjun arthur ben benjamin bernd bob brian carla carlos carmen carol caroline catherine
    charles charlotte chen chiara chloe chris christian christina claire clara claudia daniel daniela dave david
    deepak diana diego dmitri dominic edward eleanor elena elizabeth ella ellen emil emily emma eric erik eva fatima
    felix fernando fiona florian francesca frank gabriel george giulia greta hana hannah hans harry hassan heather
    helen henry hiroshi ibrahim ines ingrid isabel isabella ivan jack jacob james jamie jan jane javier jean
    jennifer jenny jessica joan joao joe johannes john jonas jonathan jorge jose joseph josh joshua juan julia
    julian karen karin karl katarina kate katherine katie kenji kevin kim klaus lars laura lea leila lena leo leon
    lewis liam linda lisa louis louise luca lucas lucia lucy luis lukas luke magda manuel marc marco marcus margaret
    maria marie marina mario marta martha martin mary mateo matt matthew maya mehmet mei melanie mia michael
    michelle miguel mike mina mohamed monica nadia nancy naomi natalia natalie nathan nick nicole nikhil nina noah
    nora olga oliver olivia omar oscar pablo paolo paul paula pedro peter petra philip pierre priya rachel rafael
    raj rajesh rebecca ricardo richard robert roberto rosa ryan samantha samuel sandra sara sarah sebastian sofia
    sophia sophie stefan stephanie stephen steve steven susan sven tara thomas tim tom tomas tomasz tony valentina
    vanessa victor victoria viktor wei william xavier yara yuki yusuf zoe
    """.split()
)
NAMED = GIVEN_NAMES | frozenset(
    """
    africa airbnb airflow amazon amsterdam android angular ansible anthropic apple argentina asana asia athens
    austin australia austria auth0 azure beijing berlin boston brazil brussels budapest canada cassandra celery
    chatgpt chicago china chrome claude cloudflare confluence copenhagen copilot cypress databricks datadog debian
    denmark denver django docker dropbox dublin elasticsearch elixir england europe facebook fedora figma finland
    firebase firefox flask france gemini germany gmail golang google grafana hamburg haskell helsinki heroku hetzner
    houston hubspot ikea india intel ireland istanbul italy japan java javascript jenkins jest jira kafka korea
    kotlin kubernetes kyoto laravel linear linux lisbon london lufthansa madrid meilisearch melbourne mexico miami
    microsoft mongo montreal munich mysql netflix netlify nginx norway notion nvidia okta openai oracle osaka oslo
    outlook pagerduty paris paypal perl poland portland portugal postgres postman powerpoint prague prometheus
    python rails react redis rome ruby rust safari salesforce samsung sap scala scotland seattle sentry seoul
    shanghai shopify siemens singapore slack snowflake sony spain splunk spotify sqlite stockholm stripe supabase
    svelte sweden switzerland sydney terraform tesla tokyo toronto toyota trello twilio twitter typescript uber
    ubuntu vancouver vercel vienna vite vue warsaw webpack windows zendesk zoom zurich
    """.split()
)

GERMAN = frozenset(
    """
    als auch auf aus bei beim bis das dass dem den der des diese dieser drei ein eine einem einen einer er es für gibt
    haben hat heißt ich im ist kann kein keine keinen läuft mit muss nach nicht noch nur sein sich sie sind soll und
    uns unser unsere vom von weil wenn werden wir wird wurde zu zum zur zwei über
    """.split()
)
ENGLISH = frozenset("the of and to is that for with we it are this on be was as from by not have has our i a".split())
GERMAN_BARE = frozenset(
    """
    anfang arbeit arm bedarf betrieb brot eile ende form geld glück hause hilfe kaffee kraft lust milch not ordnung
    produktion ruhe schuld strom urlaub versehen wasser zeit zucker zukunft
    """.split()
)

# Directories that make a path of lower-case words with slashes between: `src/app`, not `read/write`.
DIRECTORIES = frozenset(
    "src lib libs docs tests packages pkg internal scripts examples benchmarks cmd usr var etc".split()
)
# Quoted or in ticks these are values and keywords, no names.
NO_TERMS = STOP_WORDS | frozenset("null nil none true false undefined nan void self yes on off ok".split())
KEYWORDS = frozenset("GET POST PUT PATCH DELETE HEAD SELECT INSERT UPDATE FROM WHERE JOIN AND OR NOT".split())
TO_ALL = frozenset("@all @here @everyone @channel @team".split())
# What goes on from an opener into a name: `New York`.
NEW = frozenset(["new", "los", "las", "el", "la", "le", "first", "open"])
NEW_PLACES = frozenset(
    "york zealand orleans delhi jersey hampshire mexico relic haven castle zealand angeles vegas paso paz monde"
    " figaro guardian republic ai".split()
)
# The second half of an adjective with a name before it: `GitHub-style`, `ASCII-only`.
AFTER_HYPHEN = (
    "based style styled like only first ready side level wide driven hosted aware free related native backed powered "
    "managed generated compatible specific format flavored flavoured inspired friendly facing sized"
).split()
NAMES_TOO = frozenset("go will".split())  # names where a capital stands inside a sentence

# Places and companies in scripts without spaces, where nothing else tells a name from a word.
DENSE_NAMES = tuple(
    """
    アマゾン アメリカ イギリス グーグル ソニー トヨタ ドイツ ニューヨーク パリ フランス ベルリン マイクロソフト
    ロンドン 上海 中国 京都 仙台 任天堂 伦敦 北京 北海道 华为 南京 台北 台湾 名古屋 大阪 天津 奈良 字节跳动 富士通
    巴黎 广州 広島 微信 微软 德国 成都 抖音 支付宝 新加坡 日本 日立 札幌 杭州 東京 東京都 柏林 楽天 横浜 武汉 沖縄
    法国 淘宝 深圳 澳门 百度 神戸 福岡 纽约 美国 腾讯 腾讯云 苏州 英国 苹果公司 西安 谷歌 重庆 钉钉 阿里云 阿里巴巴
    韓国 韩国 飞书 香港 네이버 대구 도쿄 부산 삼성 서울 인천 제주 카카오
    """.split()
)
SURNAMES = "王李张刘陈杨赵吴徐孙郭谢宋邓曹彭蔡潘董袁"
CHINESE_VERBS = "负责|建议|认为|觉得|喜欢|说|想|住在|来自|提出|同意|要求|希望|决定|在|是我|不吃|会"
HONORIFICS = "さん|様|氏|くん|君|ちゃん|先生|部長|課長|社長"
NO_PERSONS = frozenset("客 皆 神 王 奥 娘 息子 父 母 姉 兄 妹 弟 患者 業者 担当者 諸君 嫁 店員 医者 彼 仕".split())
