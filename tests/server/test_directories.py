"""A file tree as resources: all of it can be read, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from patience import turn_until

from anyshape import Server, ToolDefinitionError
from anyshape.protocol.revision import RELEASED, Revision
from anyshape.server import Caching
from anyshape.server.features import directories

from .asking import Asker

SECRET = "the secret"


@pytest.fixture(autouse=True, params=["descriptors", "paths"])
def _system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Be on a system that opens names inside a directory, and on one that has only paths."""
    if request.param == "paths":
        monkeypatch.setattr(directories, "_HAS_DESCRIPTORS", False)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a directory to be served, with a secret beside it."""
    (tmp_path / "secret.txt").write_text(SECRET)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text(SECRET)
    root = tmp_path / "tree"
    (root / "deep" / "er").mkdir(parents=True)
    (root / "deep" / "er" / "last page.md").write_text("# Ende\n")
    (root / "a.json").write_text('{"a": 1}')
    (root / "é%2F.txt").write_text("odd name")
    (root / "pixel.png").write_bytes(b"\x89PNG\x00")
    (root / ".hidden").write_text(SECRET)
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text(SECRET)
    return root


def served(root: Path, **options: Any) -> Server:
    server = Server("s")
    server.directory("docs://", root, max_age=0, **options)
    return server


async def listed(server: Server) -> dict[str, dict[str, Any]]:
    result = await Asker(server).result("resources/list")
    return {entry["uri"]: entry for entry in result["resources"]}


async def test_every_file_is_listed_and_can_be_read_by_the_uri_that_was_listed(tree: Path) -> None:
    server = served(tree, caching=Caching(7))
    entries = await listed(server)
    assert list(entries) == [
        "docs://a.json",
        "docs://pixel.png",
        "docs://%C3%A9%252F.txt",
        "docs://deep/er/last%20page.md",
    ]
    last = entries["docs://deep/er/last%20page.md"]
    assert (last["name"], last["mimeType"], last["size"]) == ("last page.md", "text/markdown", 7)
    assert last["annotations"]["lastModified"].endswith("Z")
    read: dict[str, Any] = {}
    for uri in entries:
        result = await Asker(server).result("resources/read", uri=uri)
        assert result["ttlMs"] == 7
        [read[uri]] = result["contents"]
    assert read == {
        "docs://a.json": {
            "uri": "docs://a.json", "mimeType": "application/json", "text": '{"a": 1}',
        },
        "docs://pixel.png": {
            "uri": "docs://pixel.png", "mimeType": "image/png", "blob": "iVBORwA=",
        },
        "docs://%C3%A9%252F.txt": {
            "uri": "docs://%C3%A9%252F.txt", "mimeType": "text/plain", "text": "odd name",
        },
        "docs://deep/er/last%20page.md": {
            "uri": "docs://deep/er/last%20page.md", "mimeType": "text/markdown",
            "text": "# Ende\n",
        },
    }  # fmt: skip
    templates = await Asker(server).result("resources/templates/list")
    assert templates["resourceTemplates"] == [{"uriTemplate": "docs://{+path}", "name": "tree"}]


UPWARDS = (
    "../secret.txt",
    "deep/../../secret.txt",
    "%2e%2e/secret.txt",
    "%2E%2E%2Fsecret.txt",
    "..%2fsecret.txt",
    "..%5csecret.txt",
    "..\\secret.txt",
    "%252e%252e/secret.txt",
    "%c0%ae%c0%ae/secret.txt",
    "%e0%80%ae%e0%80%ae/secret.txt",
    "%uff0e%uff0e/secret.txt",
    "\uff0e\uff0e/secret.txt",
    "a.json/../../secret.txt",
    "a.json%00",
    "a.json%00.png",
    "a.json\x00",
    "./a.json",
    "deep/./er/last%20page.md",
    "deep//er/last%20page.md",
    "/a.json",
    "/etc/passwd",
    "//etc/passwd",
    "%2fetc%2fpasswd",
    "file:///etc/passwd",
    "C:/Windows/win.ini",
    "C:%5CWindows%5Cwin.ini",
    "",
    ".",
    "..",
    "deep",
    "deep/",
    "deep/er",
    ".hidden",
    ".git/config",
    "deep/%2e%2e/.hidden",
    "%ff",
    "%ed%a0%80",
    "a.json/",
    "a.json/x",
    "a.json%0a",
    "A" * 300,
    "x/" * 3000,
    "a.json?x",
    "a.json#x",
    "no such file",
)


@pytest.mark.behaviour("resources.paths")
@pytest.mark.parametrize("path", UPWARDS, ids=lambda path: ascii(path)[:40])
async def test_nothing_but_a_plain_path_to_a_file_is_found(tree: Path, path: str) -> None:
    error = await Asker(served(tree), "2025-11-25").error("resources/read", uri=f"docs://{path}")
    assert (error["code"], error["message"]) == (-32002, "Resource not found")


async def test_no_symbolic_link_is_followed_or_listed(tree: Path) -> None:
    outside = tree.parent / "outside"
    (tree / "link.txt").symlink_to(outside / "secret.txt")
    (tree / "folder").symlink_to(outside, target_is_directory=True)
    (tree / "deep" / "up").symlink_to("../..", target_is_directory=True)
    (tree / "inside.txt").symlink_to(tree / "a.json")
    (tree / "loop").symlink_to(tree, target_is_directory=True)
    server = served(tree)
    assert len(await listed(server)) == 4
    for path in (
        *("link.txt", "folder/secret.txt", "deep/up/secret.txt", "inside.txt"),
        *("loop/a.json", "loop/loop/a.json"),
    ):
        error = await Asker(server).error("resources/read", uri=f"docs://{path}")
        assert error["message"] == "Resource not found"


async def test_the_root_itself_may_be_a_link(tree: Path) -> None:
    link = tree.parent / "link"
    link.symlink_to(tree, target_is_directory=True)
    assert len(await listed(served(link))) == 4


async def test_what_is_no_regular_file_is_not_read(tree: Path) -> None:
    os.mkfifo(tree / "pipe")
    server = served(tree)
    assert "docs://pipe" not in await listed(server)
    error = await Asker(server).error("resources/read", uri="docs://pipe")
    assert error["message"] == "Resource not found"


async def test_entries_and_bytes_are_bounded(tree: Path, caplog: pytest.LogCaptureFixture) -> None:
    for number in range(50):
        (tree / "deep" / f"{number:02}.txt").write_text("x")
    (tree / "long.txt").write_text("x" * 101)
    server = served(tree, max_entries=20, max_bytes=100)
    assert 0 < len(await listed(server)) <= 20
    assert "more than 20 entries" in caplog.text
    error = await Asker(server).error("resources/read", uri="docs://long.txt")
    assert error == {"code": -32603, "message": "the file is longer than 100 bytes"}
    read = await Asker(server).result("resources/read", uri="docs://deep/49.txt")
    assert read["contents"][0]["text"] == "x"


async def test_a_very_deep_tree_is_listed_as_far_as_it_can_be_read(tree: Path) -> None:
    deep = tree
    for _ in range(60):
        deep /= "d"
        deep.mkdir()
        (deep / "f").write_text("f")
    server = served(tree)
    entries = await listed(server)
    for uri in entries:
        await Asker(server).result("resources/read", uri=uri)
    assert "docs://d/f" in entries
    assert len(entries) < 60


async def test_files_that_come_and_go_are_listed_and_announced(tree: Path) -> None:
    server = served(tree)
    server.resource("docs://own", name="own")(lambda: "own")
    before = await listed(server)
    asker = Asker(server, "2025-11-25")
    await asker.shake_hands()
    (tree / "new.txt").write_text("new")
    (tree / "own").write_text("hidden by the other resource")
    (tree / "a.json").unlink()
    after = await listed(server)
    assert after.keys() ^ before.keys() == {"docs://new.txt", "docs://a.json"}
    await turn_until(lambda: asker.sent)
    assert asker.sent[0]["method"] == "notifications/resources/list_changed"
    assert after["docs://own"] == {"uri": "docs://own", "name": "own"}
    server.remove_resource("docs://{+path}")
    assert list(await listed(server)) == ["docs://own"]
    error = await Asker(server).error("resources/read", uri="docs://new.txt")
    assert error["message"] == "Resource not found"


async def test_subscribers_are_told_of_files(tree: Path) -> None:
    server = served(tree)
    asker = Asker(server, "2025-11-25")
    await asker.result("resources/subscribe", uri="docs://deep/er/last%20page.md")
    server.resource_changed("docs://deep/er/last%20page.md")
    await turn_until(lambda: asker.sent)
    assert asker.sent[0]["params"] == {"uri": "docs://deep/er/last%20page.md"}


async def test_paths_complete(tree: Path) -> None:
    result = await Asker(served(tree)).result(
        "completion/complete",
        ref={"type": "ref/resource", "uri": "docs://{+path}"},
        argument={"name": "path", "value": "deep/"},
    )
    assert result["completion"]["values"] == ["deep/er/last page.md"]


@pytest.mark.parametrize("revision", RELEASED)
async def test_a_directory_that_is_not_there_is_empty(tmp_path: Path, revision: Revision) -> None:
    server = served(tmp_path / "none")
    assert (await Asker(server, revision).result("resources/list"))["resources"] == []
    assert "error" in await Asker(server, revision).ask("resources/read", uri="docs://a")


async def test_hidden_files_are_served_if_they_shall_be(tree: Path) -> None:
    assert "docs://.git/config" in await listed(served(tree, hidden=True))


def test_what_cannot_be_a_directory_is_refused(tmp_path: Path) -> None:
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("docs", {}),
        ("docs:x", {}),
        ("docs://a b/", {}),
        ("docs://", {"max_entries": 0}),
        ("docs://", {"max_bytes": 0}),
    ]
    for prefix, options in wrong:
        with pytest.raises(ToolDefinitionError, match=r"directory\(\)"):
            Server("s").directory(prefix, tmp_path, **options)


async def test_directories_keep_their_order_when_another_is_removed(tmp_path: Path) -> None:
    server = Server("s")
    names = [f"{number}" for number in range(8)]
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text("a")
        server.directory(f"at{name}:///", tmp_path / name)
    server.remove_resource("at3:///{+path}")
    assert list(await listed(server)) == [f"at{name}:///a.txt" for name in names if name != "3"]
