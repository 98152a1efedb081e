"""Deploy: ports, rendering, environments, supervision, readiness, clean stop. Receives servers, names none."""
