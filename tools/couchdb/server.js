// A CouchDB-compatible server on a free port of the loopback address; nothing of it outlives the process.
// Usage: node server.js [USER PASSWORD], which make it ask for them. Prints its port once it listens.
"use strict";

const path = require("path");
const { createRequire } = require("module");

// its packages lie where tools/install-test-tools has put them: in the working folder
const load = createRequire(path.join(process.cwd(), "package.json"));
const express = load("express");
const PouchDB = load("pouchdb-core")
  .plugin(load("pouchdb-adapter-memory"))
  .plugin(load("pouchdb-mapreduce"))
  .plugin(load("pouchdb-replication"));

const [user, password] = process.argv.slice(2);
const app = express();
if (user) {
  const wanted = "Basic " + Buffer.from(`${user}:${password}`).toString("base64");
  app.use((request, response, next) => {
    if (request.headers.authorization === wanted) return next();
    response.status(401).json({ error: "unauthorized", reason: "You are not authorized to access this db." });
  });
}
app.use(load("express-pouchdb")(PouchDB.defaults({ adapter: "memory" }), {
  mode: "minimumForPouchDB",
  overrideMode: { include: ["routes/replicate"] },
}));
const server = app.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.on("SIGTERM", () => process.exit(0));
// the test that started us may be killed: its pipe closes then
process.stdin.on("close", () => process.exit(0)).resume();
