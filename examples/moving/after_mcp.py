"""Users, served with Anyshape."""

from anyshape import Server, ToolError

server = Server("users")

NAMES = {1: "Ada", 2: "Grace"}


@server.tool
def list_names() -> list[str]:
    """List the names of all users."""
    return list(NAMES.values())


@server.tool
def find_name(id: int) -> str | None:
    """Find the name of a user, or nobody's."""
    if id < 0:
        raise ToolError("ids start at 0")
    return NAMES.get(id)


if __name__ == "__main__":
    server.run()
