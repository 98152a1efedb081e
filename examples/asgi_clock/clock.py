"""A pure ASGI application without any framework: the time, and how long this process has been up."""

import json
import time


class Clock:
    """Tells the time at ``/`` and its age at ``/age``; 404 elsewhere."""

    def __init__(self):
        self.started = None

    async def __call__(self, scope, receive, send):
        """Speak lifespan and http; refuse everything else."""
        if scope["type"] == "lifespan":
            await self.live(receive, send)
        elif scope["type"] == "http":
            await self.answer(scope["path"], send)
        else:
            raise ValueError(f"a clock does not speak {scope['type']}")

    async def live(self, receive, send):
        """Remember the start; there is nothing to tidy up at the end."""
        while True:
            event = (await receive())["type"]
            if event == "lifespan.startup":
                self.started = time.monotonic()
            await send({"type": f"{event}.complete"})
            if event == "lifespan.shutdown":
                return

    async def answer(self, path, send):
        """Send one JSON document of constant length."""
        if path == "/":
            status, content = 200, {"time": time.strftime("%H:%M:%S")}
        elif path == "/age":
            status, content = 200, {"age_s": f"{time.monotonic() - self.started:012.3f}"}
        else:
            status, content = 404, {"error": "a clock has only two faces: / and /age"}
        body = json.dumps(content).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


app = Clock()
