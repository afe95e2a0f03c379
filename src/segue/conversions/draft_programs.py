"""Which programs of a shell command are checks, which only look, and what stands around them: tables of names."""

from __future__ import annotations

import re

# Checks by their name alone.
PROGRAMS = frozenset(
    "pytest py.test tox nox jest vitest mocha ava karma tsc eslint biome stylelint ruff mypy pyright flake8 black "
    "unittest rspec rubocop phpunit phpstan pest ctest ninja bazel playwright cypress pre-commit golangci-lint "
    "shellcheck hadolint tflint gradle gradlew mvn mvnw sbt xcodebuild msbuild webpack rollup turbo nx gcc g++ clang "
    "clang++ rustc javac pdflatex latexmk lint-imports make just rake ant tsx-test "
    "actionlint ansible-lint bandit buf commitlint detekt dprint elm-test ghc hlint htmlhint hugo ktlint lychee "
    "markdownlint markdownlint-cli2 mkdocs oxlint pylint promtool protoc rebar3 solhint sphinx-build sqlfluff "
    "staticcheck stylua svelte-check swiftlint tsup tsd vale vue-tsc wasm-pack yamllint".split()
)
# Of these only some subcommands are.
_SUBCOMMANDS = {
    "npm": "test t run run-script ci install i build",
    "pnpm": "test t run install i build lint typecheck exec",
    "yarn": "test run install build lint typecheck",
    "bun": "test run install build",
    "cargo": "build b test t check c clippy run r fmt bench nextest doc",
    "go": "build test vet run generate",
    "dotnet": "build test run restore publish",
    "swift": "build test run",
    "mix": "test compile credo dialyzer",
    "zig": "build test",
    "deno": "test check lint task",
    "docker": "build",
    "terraform": "plan apply validate",
    "flutter": "test build analyze",
    "dart": "test analyze compile",
    "stack": "build test",
    "cabal": "build test",
    "composer": "install test",
    "pip": "install",
    "pip3": "install",
    "uv": "sync build lock",
    "poetry": "install build lock check",
    "helm": "lint template upgrade install",
    "kubectl": "apply rollout",
    "alembic": "upgrade downgrade check",
    "rails": "test db:migrate",
    "manage.py": "test migrate check makemigrations",
    "artisan": "test migrate",
    "meson": "setup compile test",
    "vite": "build",
    "astro": "build check",
    "dbt": "build run test compile",
    "hatch": "build test run",
    "pulumi": "preview up",
    "cdk": "synth deploy diff",
    "next": "build lint",
}
CHECKS = {program: frozenset(names.split()) for program, names in _SUBCOMMANDS.items()}
SCRIPT_RUNNERS = {"run", "run-script", "exec", "task"}
SERVERS = re.compile(r"(?:dev|start|serve|watch|preview|storybook)\b")
SCRIPT = re.compile(r"(?:^|[-_.:])(?:tests?|build|check|lint|ci|e2e|smoke|verify|deploy|migrate)(?:[-_.:]|$)")
# Options whose value narrows a check; options that take a value and narrow it as well, but name no subcommand.
SELECTING = {"-k", "-m", "-t", "--grep", "-g", "--testNamePattern", "--run", "-run", "-p", "--package", "--test"}
VALUED = {"--filter", "-F", "-C", "--prefix", "--dir", "--cwd", "-w", "--workspace", "--manifest-path"}
# What stands before the program.
LAUNCHERS = {("uv", "run"), ("poetry", "run"), ("pipenv", "run"), ("hatch", "run"), ("pdm", "run"), ("rye", "run")}
LAUNCHERS |= {("bundle", "exec"), ("pnpm", "dlx"), ("pnpm", "exec"), ("yarn", "dlx"), ("npm", "exec"), ("bun", "x")}
WRAPPERS = frozenset("sudo time nice nohup env command exec npx bunx xvfb-run stdbuf then !".split())
# What changes nothing about how a check beside it ended, and what is no work at all.
HARMLESS = {"cd", "export", "source", ".", "set", "mkdir", "pushd", "popd", "unset", "true", "ulimit", "conda", "nvm"}
LOOKING = frozenset(
    "[ ack ag awk bat cat cd cmp code command curl date diff docker du echo env export fd find gh git grep head "
    "jq kill less ls lsof nc netstat ping pgrep pkill printenv printf ps psql pwd rg rm sed sleep sort ssh stat "
    "tail test top tree type wc wget which xargs".split()
)
INTERPRETERS = re.compile(r"(?:python[\d.]*|py|pypy3?|php|node|ruby)$")
# Those whose first argument says what they do; those that print nothing when all is well.
GOAL_RUNNERS = frozenset("make just rake gradle gradlew mvn mvnw ruff turbo nx".split())
QUIET = frozenset("tsc eslint flake8 go gcc clang javac".split())
