"""A server that writes down what it is asked."""

import asyncio
import tempfile
from pathlib import Path

from weather import server

from anyshape import Client
from anyshape.gateway.audit import AuditLog
from anyshape.gateway.metrics import GatewayMetrics
from anyshape.gateway.watching import Watching


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "audit.log"
        audit, metrics = AuditLog(path), GatewayMetrics()
        server.middleware(Watching(lambda method, name: "weather", audit=audit, metrics=metrics))
        async with Client(server) as client:
            await client.call("temperatures", {"city": "Paris"})
        audit.close()
        print(path.read_text() + metrics.registry.text())


if __name__ == "__main__":
    asyncio.run(main())
