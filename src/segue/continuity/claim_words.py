"""The words by which a claim of persistence is read, English and Chinese: one table.

English words are compared whole. Chinese is not set apart by spaces: its words stand in patterns.
"""

from __future__ import annotations

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _any(text: str) -> str:
    """Return a pattern for any of the words, the longest first."""
    return "|".join(sorted(text.split(), key=lambda word: (-len(word), word)))


# --- What is done --------------------------------------------------------------------------------------------------

REMEMBERED = _words("remembered memorised memorized")
NOTED = _words("noted captured logged")  # of anything: these claim only where memory or a teaching is named
KEPT = REMEMBERED | NOTED | _words("saved stored recorded persisted preserved archived retained")
PLACED = _words(
    "added written wrote put committed entered appended updated synced pinned moved placed created kept filed "
    "registered documented bookmarked baked locked etched burned tucked stowed folded incorporated integrated "
    "dropped slipped popped jotted"
)
VALID = _words("validated verified valid consistent")
READY = _words(
    "ready complete completed generated issued finished finalised finalized up-to-date produced enabled initialised "
    "initialized"
)
DONE = KEPT | PLACED | VALID | READY

REMEMBER_ZH = _any("记住 记下 记牢 牢记 铭记 记好 记着 (?<![笔日登标札速游传手钉印])记(?=$|[。.,;!])")
KEEP_ZH = _any(
    "保存 存储 存入 存进 存到 存下 存好 写入 写进 写到 记录 记到 记在 记进 登记 存档 归档 持久化 落盘 沉淀 固化 "
    "入库 收录 留存 储存 备案 (?<![内缓库现生残并共暂储保贮归])存(?![在量款货活取根疑放]) "
    # Of anything; into memory alone is it kept.
    "(?:进入|进了|放进|放入|收进|纳入|并入|刻进|塞进)(?=.{0,4}(?<!内存)记忆)"
)
PLACE_ZH = _any("同步 添加 加入 更新 补充 归入")
VALID_ZH = _any("校验 验证 核验")
READY_ZH = _any("生成 完成 就绪 准备好 签发 出具 定稿 启用 写好 写完 编好 整理好 备好")
REPORTS_ZH = re.compile(r"(?:打印|显示|输出|提示|返回|弹出|写着|回显|报)(?:了|出|的是)?$")  # before a colon

# --- Of what -------------------------------------------------------------------------------------------------------

MEMORY = _words("memory memories")
OWN_MEMORY = _words("my your our project project's long-term persistent continuity agent's")  # before "memory"
OF_MEMORY = _words(  # after "memory", which then is no machine's
    "entry entries store index note notes item items record records file bank layer journal candidate candidates"
)
TAUGHT = _words(
    "preference preferences convention conventions rule rules correction corrections lesson lessons feedback "
    "decision decisions constraint constraints instruction instructions learning learnings guideline guidelines "
    "takeaway takeaways insight insights style wish wishes habit agreement agreements fact facts information"
)
ASKED = _words("request requests requirement requirements choice choices")  # taught where it is "your request"
RECORDS = _words(
    "receipt receipts ledger ledgers handoff hand-off handover handoffs persistence journal "
    "project_study_log.md project_study_qa.md"
)
OF_RECORDS = _words("envelope packet document bundle file chain hash")
RECORD_KINDS = _words(
    "study learning mastery session memory qa project project's continuity compaction teaching course"
)
WEAK_RECORDS = _words(
    "qa q&a record records log logs entry entries progress state session notes note checkpoint evidence index store "
    "journal candidate candidates answer question questions answers summary"
)
DOCUMENTS = _words("document documents guide handbook manual workbook handout material materials")
DOCUMENT_KINDS = _words("formal final study learning handoff project official teaching course")
WEAK_DOCUMENTS = _words("document documents report reports guide chapter")
POINTERS = _words("this that these those all both")
PRONOUNS = POINTERS | _words("it everything they them")
OWN = _words("our your my this these both the")
OWNERS = _words("your my our this these both all that")
GENERIC = _words("each every any a an")

MEMORY_ZH = r"(?<!内存)记忆(?!体|化|力)|(?<![a-z-])memory(?![a-z.])|memory\.md|\.project-study-memory|\bmem-\d|\bm-\d"
TAUGHT_ZH = (
    _any(
        "偏好 约定 规则 纠正 更正 反馈 教训 约束 决定 决策 要求 意见 习惯 规范 经验 指示 嘱咐 叮嘱 这一点 这点 "
        "你的选择 您的选择"
    )
    + r"|(?<![a-z])(?:preference|correction|feedback|rule)s?(?![a-z])"
)
RECORD_ZH = (
    _any(
        "收据 回执 台账 账本 交接 问答 会话 学习记录 学习日志 学习进度 学习笔记 存储库 掌握记录 掌握度 项目记录 恢复点"
    )
    + r"|\bqa\b|project_study_(?:log|qa)\.md|\btx-\d"
)
WEAK_RECORD_ZH = _any("记录 日志 进度 索引 笔记 状态 事务 内容 结果 答案 问题")
DOCUMENT_ZH = (
    "(?:正式|最终|学习|教学|交接|复习|课程|讲解|培训)的?(?:文档|文件|指南|手册|资料|讲义|教材|报告)|"
    "(?:学习|复习|教学)材料"
)
WEAK_DOCUMENT_ZH = _any("文档 报告")

# --- What is no such thing -----------------------------------------------------------------------------------------

CODE = _words(
    "file config configuration script variable function method class module package library test suite fixture bug "
    "fix build branch commit pr diff patch patched merge ci lint linter code api endpoint request response database "
    "db table column row schema migration query cache cached server client container pod queue job worker token "
    "cookie key hash url disk redis postgres sqlite localstorage json csv yaml html css button form page dialog "
    "field component chart plot image screenshot dataset data model weights training loss epoch inserted insert "
    "tokenizer notebook buffer tree parser compiler compiled editor terminal stack trace snapshot stash backup repo "
    "repository readme changelog settings flag version release artifact binary pipeline hook benchmark benchmarked "
    "refactored refactoring deployed app user's user users' event stream socket tensor array object string byte kb "
    "mb gb ms path folder directory dependency dependencies formatter docs documentation pdf firewall eslint mode "
    "works coverage openapi balancer traffic customer order invoice product email player game"
)
CODE_ZH = _words(
    "文件 代码 变量 函数 方法 测试 缓存 数据库 数据 配置 分支 镜像 接口 脚本 令牌 截图 快照 草稿 权重 模型 表单 "
    "页面 按钮 组件 字段 服务 日志文件 目录 仓库 合并 构建 编译 部署 请求 响应 依赖 内存 迁移 表中 数据表 提示文字 "
    "文件夹 图片 图表 用户表 编辑器 浏览器 安装包 依赖包 版本 补丁 事件 订单 客户 基准 单元测试 用例 模块 更新日志 "
    "提交记录 修复 重构 本地 用户输入 程式 资料库 档案 设定"
)
MACHINE = _words("shared in-memory gpu cpu heap flash main physical virtual video free process working device host")
VOLATILE = _words("disk calls process ram restart cached heap")  # beside "in memory": that of a machine
PLACES = _words("in into to on onto under at inside within")
NEUTRAL = _words(  # after a preposition: no place
    "this that the a session turn step case full part turn total detail order time addition good place line request "
    "future sessions later next now date your you me us me our my project project's record"
)
SIZES = _words("mb gb kb mib gib bytes percent")

# --- How it is said ------------------------------------------------------------------------------------------------

BE = _words("is are was were it's that's been everything's all's")
PAST = _words("been was were")
HAVE = _words("have has had it've we've i've you've they've")
AGENT = _words("i we")
ADVERBS = _words(
    "just already also now successfully permanently both fully correctly safely finally duly again then properly "
    "and all too still since therefore explicitly durably even carefully freshly newly only securely officially "
    "really thus here there today yesterday earlier first itself themselves"
)
NO = _words("no nothing none neither 0 zero false not never nowhere pending")
NEGATIONS = _words(
    "not never no nothing none neither nor without cannot unable fail fails failed failing refused refuses refuse "
    "hardly barely nobody lacks lacking zero 0 unsaved doubt instead"
)
MODALS = _words(
    "will would could should must may might shall can need needs want wants let let's please try tries trying tried "
    "attempted plans intend intends ought expect expects hope hopes supposed going i'll we'll it'll that'll they'll "
    "i'd we'd you'll be being getting gets get about-to to-be to-have awaiting waiting almost nearly having"
)
ASSURED = _words("can would am happy glad pleased want may")  # modals before "confirm that" that take nothing back
CONFIRMED = _words("confirm confirmed verified checked report note see say glad happy pleased assure")
CONDITIONS = _words("according if unless once when whenever provided assuming should until before after lest till")
TRAILING = _words("if unless once when until whenever before after")
OPEN = _words(
    "whether which who whom how where why what whose check checks checking verifies verify ensures ensure assert "
    "asserts means says said say tells claim claims claimed assume assumes think believe sure guarantee guarantees "
    "supposedly imagine pretend so-that as than like"
)
DETERMINERS = _words("a an each every any the of no with most some than or previously")
FINITE = _words("requires means needs is are was were has have do does did must need needs can will should may")
VERBS = DONE | BE | HAVE | FINITE | MODALS
REPORTS = _words(  # before a colon: what follows is what something else says
    "print prints printed printing show shows showed display displays displayed say says said read reads output "
    "outputs return returns returned echo echoes log logs respond responds answer answers label labelled"
)
BREAKS = _words("but however though although whereas nevertheless nonetheless")
SUBORDINATE = _words(
    "so so-that because that which who since if unless once when until before after while where whether"
)
OBJECTS = _words(
    "the a an your my our its their each every all some two three four five six ten several many us me you him her "
    "it this that these those"
)
RECALLED = _words("to to-be to-have how why when")  # after "remembered": it came to mind
FUNCTION = _words(
    "of for with about by from on in to into at as under so so-that because that which who when if or than per"
)
GRAMMAR = FUNCTION | AGENT | ADVERBS | BE | HAVE | DONE | FINITE | _words(", you your they he she it")
LATER = re.compile(
    r"\b(?:for|in|across|into|to) (?:all |any |the |every |your |our )?(?:future|next|later|coming|subsequent|other|"
    r"following)(?: (?:sessions?|times?|conversations?|turns?|runs?|work|use|reference))?\b|\bfrom now on\b|"
    r"\bgoing forward\b|\bso (?:that )?(?:you|i|we|the next session)(?: will| won't|'ll)?\b[^,;]{0,40}\b"
    r"(?:again|repeat|know)\b"
)

NEGATION_ZH = re.compile(
    r"未|没(?!问题|关系|事|错)|不(?!过|仅|但|光|只|用|必|再|错|会再)|无法|失败|尚|勿|并非|别(?!担心|的|处|人|急)|"
    r"难以|拒绝|(?<!\d)0 ?[条个份项]|零条"
)
MODAL_ZH = re.compile(
    r"将|会(?!话|议|员|不)|要(?!求|点|不|是)|应(?!用)|需|能|可(?!查|供)|想(?!法)|打算|请(?!求)|让我|我来|正在|稍后|"
    r"即将|准备(?!好|就绪|完)|等待|尝试|试图|建议|希望|(?<!刚)才|以便|怎么|如何|是否|有没有|检查|确保|断言|负责|用来|"
    r"(?:日志|终端|界面|程序|页面|控制台|系统|工具|输出|脚本|弹窗)(?:里|中|上|会)?(?:显示|提示|打印|说|报告|写着)|"
    r"用于|据说|声称|自动|每次|必须|马上|待(?=保存|记录|生成|校验|验证|确认|批准)"
)
CONDITION_ZH = re.compile(
    r"如果|假如|倘若|若|一旦|^只有|只要|除非|等[你我他她它您到]|万一|要是|当[^前地]|的话|之后|以后[，,]|时[，,]|后[，,]|前[，,]"
)
QUESTION_ZH = re.compile(r"[?？]|吗|是否|有没有|要不要|没有$|了没$|么$|呢$")
