"""A notebook in memory: the smallest Flask application that is not only a greeting."""

from flask import Flask, abort, jsonify, url_for

NOTES = {
    "milk": "Two bottles, and return the empty ones.",
    "bicycle": "The rear brake squeaks.",
    "library": "The book on bridges is due on Friday.",
}

app = Flask(__name__)


@app.get("/")
def index():
    """List all notes with their addresses."""
    return jsonify([{"name": name, "url": url_for("note", name=name)} for name in NOTES])


@app.get("/notes/<name>")
def note(name):
    """Show one note."""
    if name not in NOTES:
        abort(404)
    return jsonify(name=name, text=NOTES[name])
