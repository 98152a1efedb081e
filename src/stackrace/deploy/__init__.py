"""Deploy: ports, rendering, environments, supervision, readiness, clean stop. No server is named here."""
