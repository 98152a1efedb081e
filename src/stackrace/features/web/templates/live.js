const progress = document.getElementById("progress");
const standing = document.getElementById("standing");
const events = new EventSource(standing.dataset.events);
events.addEventListener("progress", (event) => { progress.textContent = event.data; });
events.addEventListener("standing", (event) => { standing.innerHTML = event.data; });
events.addEventListener("end", () => { events.close(); location.reload(); });
events.addEventListener("error", () => { progress.textContent = "The site does not answer; trying again."; });
