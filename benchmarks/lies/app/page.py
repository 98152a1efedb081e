"""The page that every stack of the suite serves: 2000 bytes, and the request's own nonce sent back."""

BODY = b"The truth, and nothing but the truth.\n" * 50 + b"." * 100


def application(environ, start_response):
    """Answer any GET."""
    headers = [("Content-Type", "text/plain"), ("Content-Length", str(len(BODY)))]
    if nonce := environ.get("HTTP_X_NONCE"):
        headers.append(("X-Nonce", nonce))
    start_response("200 OK", headers)
    return [BODY]
