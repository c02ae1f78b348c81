"""A gateway from a file: what it says, and how it says what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from anyshape import Server
from anyshape.gateway import ConfigError, RetryOptions, RoomOptions, Upstream, load
from anyshape.gateway.config import is_configuration
from anyshape.screening import Severity

WHOLE = """
name = "fleet"
instructions = "Ask gently."
endpoints = "both"

[upstreams.github]
url = "https://example.com/mcp"
type = "sse"
headers = { Authorization = "Bearer ${FLEET_TOKEN}" }
prefix = "gh_"
allow = ["get_*"]
deny = ["*_all"]
check = "warn"
when_down = "hide"
timeout = 5
room = { max_calls = 3 }
retry = { most = 1 }

[upstreams.files]
command = ["npx", "files"]
env = { KEY = "${file:key.txt}" }
cwd = "/srv"

[tools]
disclosure = "search"

[pins]
file = "pins.json"
unknown = "admit"

[screening]
withhold = "high"

[audit]
file = "audit.jsonl"
arguments = "none"

[health]
required = ["github"]
"""


def write(folder: Path, text: str, name: str = "fleet.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_a_file_of_ours_says_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEET_TOKEN", "s3cret")
    (tmp_path / "key.txt").write_text("from a file\n")
    config = load(write(tmp_path, WHOLE))
    assert (config.name, config.instructions) == ("fleet", "Ask gently.")
    assert config.endpoints == "both"
    assert config.upstreams["github"] == Upstream(
        target="https://example.com/mcp",
        type="sse",
        headers={"Authorization": "Bearer s3cret"},
        prefix="gh_",
        allow=("get_*",),
        deny=("*_all",),
        check="warn",
        when_down="hide",
        timeout=5,
        room=RoomOptions(max_calls=3),
        retry=RetryOptions(most=1),
    )
    files = config.upstreams["files"]
    assert (files.target, files.env, files.cwd) == (
        ["npx", "files"],
        {"KEY": "from a file"},
        "/srv",
    )
    settings = config.settings
    assert settings.disclosure == "search"
    assert settings.pins_file == tmp_path / "pins.json"
    assert settings.pins.unknown == "admit"
    assert settings.screening is not None
    assert settings.screening.withhold is Severity.HIGH
    assert settings.audit_file == tmp_path / "audit.jsonl"
    assert settings.required == ("github",)


def test_the_key_of_the_audit_log_comes_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUDIT_KEY", "0123456789abcdef")
    text = '[upstreams.a]\nurl = "http://x"\n[audit]\nfile = "a"\nkey = "${AUDIT_KEY}"'
    assert load(write(tmp_path, text)).settings.audit.key == b"0123456789abcdef"


def test_the_json_of_hosts_is_read(tmp_path: Path) -> None:
    config = load(
        write(
            tmp_path,
            """{"mcpServers": {
              "files": {"command": "npx", "args": ["files", "/srv"], "env": {"A": "b"}},
              "web": {"type": "http", "url": "https://example.com/mcp", "headers": {"X": "y"}},
              "old": {"type": "sse", "url": "https://example.com/sse"},
              "fast": {"transport": "sse", "url": "https://example.com/sse"},
              "off": {"command": "x", "disabled": true}
            }}""",
            "mcp.json",
        )
    )
    assert config.upstreams == {
        "files": Upstream(target=["npx", "files", "/srv"], env={"A": "b"}),
        "web": Upstream(target="https://example.com/mcp", headers={"X": "y"}),
        "old": Upstream(target="https://example.com/sse", type="sse"),
        "fast": Upstream(target="https://example.com/sse", type="sse"),
    }


def test_the_json_of_hosts_may_be_signed_and_have_comments_and_last_commas(tmp_path: Path) -> None:
    text = """\ufeff{
      // "servers": {"not": {}}
      "inputs": [],
      "servers": { /* of
        the editor */
        "web": {"url": "https://example.com/mcp", "headers": {"X": "a, ] // \\" /* */ ,}"},},
        "off": {"command": "x", "disabled": true,}
        , // the last
      },
    }"""
    file = write(tmp_path, text, "mcp.json")
    assert is_configuration(file)
    assert load(file).upstreams == {
        "web": Upstream(target="https://example.com/mcp", headers={"X": 'a, ] // " /* */ ,}'}),
    }
    wrong = write(tmp_path, text.replace("https", "ftp"), "wrong.json")
    with pytest.raises(ConfigError, match=r"line 6: servers\.web"):
        load(wrong)


def host(
    tmp_path: Path, entry: str, name: str = "mcp.json", section: str = "mcpServers"
) -> Upstream:
    config = load(write(tmp_path, f'{{"{section}": {{"a": {entry}}}}}', name))
    return config.upstreams["a"]


def test_hosts_name_the_url_of_a_server_in_three_ways(tmp_path: Path) -> None:
    for key in ("url", "serverUrl", "httpUrl"):
        assert host(tmp_path, f'{{"{key}": "https://example.com/mcp"}}') == Upstream(
            target="https://example.com/mcp"
        )


def test_words_of_hosts_stand_for_what_they_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN_1", "t1")
    monkeypatch.setenv("TOKEN_2", "not the program's own")
    (tmp_path / ".vscode").mkdir()
    (tmp_path / "local.env").write_text(
        "# secrets\nexport KEY = 'a b'\nBOTH=file\n\nURL=x=y\nnothing\n"
    )
    found = host(
        tmp_path,
        """{
          "command": "${workspaceFolder}${/}run", "cwd": "src",
          "args": ["${userHome}", "${env:TOKEN_1}", "${TOKEN_1}", "${NOT_THERE_1:-no}",
                   "--header", "Authorization:${TOKEN_2}", "${NOT_THERE_1}", "$TOKEN_1"],
          "env": {"TOKEN_2": "Bearer ${TOKEN_1}", "BOTH": "entry", "D": "${NOT_THERE_1:-}"},
          "envFile": "${workspaceFolder}/local.env"
        }""",
        ".vscode/mcp.json",
        "servers",
    )
    assert found.target == [
        f"{tmp_path}/run",
        str(Path.home()),
        "t1",
        "t1",
        "no",
        "--header",
        "Authorization:${TOKEN_2}",  # mcp-remote and others put in what is theirs
        "${NOT_THERE_1}",
        "$TOKEN_1",
    ]
    assert found.env == {
        "KEY": "a b",
        "BOTH": "entry",
        "URL": "x=y",
        "TOKEN_2": "Bearer t1",
        "D": "",
    }
    assert found.cwd == str(tmp_path / "src")
    url = '{"url": "https://example.com/${TOKEN_1}", "headers": {"X": "${env:TOKEN_1}"}}'
    assert host(tmp_path, url) == Upstream(target="https://example.com/t1", headers={"X": "t1"})


def test_tools_that_a_host_withholds_are_withheld(tmp_path: Path) -> None:
    entry = '{"command": "x", "disabledTools": ["a"], "excludeTools": ["b"]}'
    assert host(tmp_path, entry) == Upstream(target=["x"], deny=("a", "b"))
    entry = '{"command": "x", "includeTools": ["a"], "autoApprove": ["a"], "timeout": 30000}'
    assert host(tmp_path, entry) == Upstream(target=["x"], allow=("a",))


def test_the_names_that_hosts_allow_are_made_names(tmp_path: Path) -> None:
    text = """{"mcpServers": {
      "My Files (local)": {"command": "x"}, "io.github.me/server": {"command": "y"},
      "a b": {"command": "z", "enabled": false}, "a/b": {"command": "z"}
    }}"""
    names = ["My_Files_local_", "io.github.me_server", "a_b"]
    assert list(load(write(tmp_path, text, "mcp.json")).upstreams) == names
    with pytest.raises(ConfigError, match=r"mcpServers\.a/b: another server is called 'a_b', too"):
        load(write(tmp_path, text.replace("false", "true"), "mcp.json"))


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ('{"command": "x", "args": ["${input:key}"]}', "args: nobody is there to be asked"),
        ('{"url": "http://x", "headers": {"A": "${input:key}"}}', "headers.A: nobody is there"),
        ('{"command": "x", "env": {"A": "${env:NOT_THERE_1}"}}', "no variable 'NOT_THERE_1'"),
        ('{"command": "x", "envFile": "no.env"}', "envFile: the file 'no.env' cannot be read"),
        ('{"command": "x", "disabledTools": "a"}', "disabledTools: expected a list of strings"),
    ],
)
def test_what_a_host_says_and_nobody_can_follow_is_told(
    tmp_path: Path, entry: str, said: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        host(tmp_path, entry)
    assert said in str(raised.value)


def test_a_url_that_cannot_be_used_is_told_without_its_secrets(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as raised:
        load(write(tmp_path, '[upstreams.a]\nurl = "ftp://me:s3cret@example.com/?key=s3cret"'))
    assert "'ftp://example.com/'" in str(raised.value)


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('[upstreams.a]\nurl = "ftp://x"', 2, "upstreams.a.url: expected an http or https URL"),
        ("[upstreams.a]\n", 1, "upstreams.a: expected one of url, command and module, got 0"),
        ('[upstreams.a]\nurl = "http://x"\nprefx = "b"', 3, "did you mean 'prefix'?"),
        ('[upstreams.a]\nurl = "http://x"\ncheck = "maybe"', 3, "expected 'enforce', 'warn' or"),
        (
            '[upstreams.a]\nurl = "http://x"\ntimeout = -1',
            3,
            "expected a number of seconds above 0",
        ),
        ('[upstreams.a]\nurl = "http://x"\nallow = "x*"', 3, "expected a list of strings, got str"),
        (
            '[upstreams.a]\nurl = "http://x"\nheaders = { A = "${NOT_THERE_1}" }',
            3,
            "the environment has no variable 'NOT_THERE_1'",
        ),
        (
            '[upstreams.a]\nurl = "http://x"\nheaders = { A = "${file:a\\u0000b}" }',
            3,
            "the file 'a\\x00b' cannot be read: no text",
        ),
        ('[upstreams.a]\nurl = "http://x"\nroom = { max_calls = 0 }', 3, "above 0"),
        ('[upstreams."a b"]\nurl = "http://x"', 1, "expected a name of letters"),
        ('[upstreams.a]\nurl = "http://x"\n[tols]\n', 3, "did you mean 'tools'?"),
        ('[upstreams.a]\nurl = "http://x"\n[tools]\ndisclosure = "some"', 4, "expected 'all' or"),
        ('[upstreams.a]\nurl = "http://x"\nretry = { most = 99 }', 3, "expected at most 10"),
        ('endpoints = "some"\n[upstreams.a]\nurl = "http://x"', 1, "'one', 'each' or 'both'"),
        ('[upstreams.a]\nurl = "http://x"\n[audit]\n', 3, 'expected file = "…"'),
        (
            '[upstreams.a]\nurl = "http://x"\n[audit]\nfile = "x"\nkey = "short"',
            5,
            "audit.key: …: expected at least 16 bytes",
        ),
        (
            '[upstreams.a]\nurl = "http://x"\n[audit]\nfile = "x"\nkey = "${NOT_THERE_1}"',
            5,
            "audit.key: the environment has no variable 'NOT_THERE_1'",
        ),
        (
            '[upstreams.a]\nurl = "http://x"\n[audit]\nfile = "x"\nmax_waiting = "many"',
            5,
            "audit.max_waiting: this cannot be 'many'",
        ),
        (
            '[upstreams.a]\nurl = "http://x"\n[health]\nrequired = ["a", "b"]',
            4,
            "health.required: there is no upstream 'b'; known are a",
        ),
        (
            '[upstreams.a]\nurl = "http://[x"',
            1,
            "upstreams.a: Upstream: expected a URL with a host",
        ),
        (
            '[upstreams.a]\nurl = "http://x"\nbreaker = { failures = true }',
            3,
            "upstreams.a.breaker.failures: this cannot be True",
        ),
    ],
)
def test_what_is_wrong_is_told_with_line_and_key(
    tmp_path: Path, text: str, line: int, said: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        load(write(tmp_path, text))
    assert str(raised.value).startswith(f"{tmp_path / 'fleet.toml'}, line {line}: ")
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected a table [upstreams.NAME]"),
        ("x = ", "expected TOML"),
        ("{", "line 1: expected JSON"),
        ("x = " + "[" * 5_000, "expected TOML: "),
        ("x = " + "1" * 5_000, "expected TOML: "),
        ("{" + '"a":[' * 50_000, "expected JSON: "),
        ('{"a":' + "1" * 5_000 + "}", "expected JSON: "),
        ("{}", 'expected an object with "mcpServers" in it'),
        ('{"mcpServers": {"a": {"url": 3}}}', 'expected "command" or "url", a string'),
        (
            r'{"mcpServers": {"a": {"command": "x", "env": {"A": "${\ud800}"}}}}',
            r"the environment has no variable '\ud800'",
        ),
        (
            '{"mcpServers": {"a": {"type": "sse", "command": "x"}}}',
            "mcpServers.a.type: 'sse': expected a URL to go with it",
        ),
        (
            '[upstreams.a]\nurl = "http://x"\ntype = "ws"',
            "upstreams.a.type: 'ws': expected 'auto' or 'sse'",
        ),
    ],
)
def test_a_file_that_is_no_configuration_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=r"fleet\.toml") as raised:
        load(write(tmp_path, text))
    assert said in str(raised.value)


def test_a_key_that_no_terminal_should_see_is_escaped(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as raised:
        load(write(tmp_path, r'{"mcpServers": {"\u001b[31m\u202e": {"url": "http://x"}}}'))
    assert r"mcpServers.'\x1b[31m\u202e': expected a name" in str(raised.value)
    assert str(raised.value).isprintable()


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nothing\.toml: No such file"):
        load(tmp_path / "nothing.toml")


def test_a_module_without_a_server_is_told_with_line_and_key(tmp_path: Path) -> None:
    def find(target: str) -> None:
        raise ValueError(f"there is no file {Path(target).name}")

    with pytest.raises(ConfigError) as raised:
        load(write(tmp_path, '[upstreams.a]\nmodule = "gone.py"\n'), find)
    said = "line 2: upstreams.a.module: there is no file gone.py"
    assert str(raised.value) == f"{tmp_path / 'fleet.toml'}, {said}"


def test_what_a_file_names_is_found_beside_it_wherever_it_is_read(tmp_path: Path) -> None:
    found: list[str] = []
    config = load(
        write(
            tmp_path,
            '[upstreams.a]\nmodule = "server.py:other"\n'
            '[upstreams.b]\nmodule = "package.server:other"\n'
            '[upstreams.c]\ncommand = ["python", "server.py"]\n'
            '[upstreams.d]\ncommand = ["python", "server.py"]\ncwd = "inner"\n',
        ),
        lambda text: found.append(text) or Server("other"),
    )
    assert found == [f"{tmp_path / 'server.py'}:other", "package.server:other"]
    assert config.upstreams["c"].cwd == str(tmp_path)
    assert config.upstreams["d"].cwd == str(tmp_path / "inner")
