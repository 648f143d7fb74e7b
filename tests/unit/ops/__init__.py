"""What operators rely on: metrics, rules, dashboards, manifests."""
