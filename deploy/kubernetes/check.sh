#!/usr/bin/env bash
# Checks the chart: runs lint, and validates the rendered manifests against Kubernetes' schemas, for both sets of values in
# tollgate/ci, and for the smaller one with each option enabled.
#
#   deploy/kubernetes/check.sh [--offline] [Kubernetes version, default 1.34.0]
#
# Needs helm. The manifests are validated by kubernetes-validate (from PyPI), which contains the schemas, or by kubeconform, which
# downloads them. Without either, they are only rendered.
set -euo pipefail
cd "$(dirname "$0")"
download=yes
if [ "${1:-}" = --offline ]; then
  download=no
  shift
fi
version=${1:-1.34.0}
rendered=$(mktemp -d)
trap 'rm -rf "$rendered"' EXIT

for values in tollgate/ci/*.yaml; do
  name=$(basename "$values" .yaml)
  helm lint --strict --quiet tollgate --values "$values"
  helm template tollgate tollgate --namespace tollgate --kube-version "$version" --values "$values" \
    > "$rendered/$name.yaml"
done
render_with() {
  helm template tollgate tollgate --namespace tollgate --kube-version "$version" --values tollgate/ci/least.yaml "${@:2}" \
    > "$rendered/least-$1.yaml"
}
render_with bus --set nats.url=nats://nats:4222
render_with mcp --set 'mcpProxy.ingress.enabled=true,mcpProxy.ingress.hosts={*.mcp.example.com}'
render_with no-mcp --set mcpProxy.replicas=0
render_with policies --set networkPolicy.enabled=true
render_with scaled --set ingest.autoscaling.enabled=true
if helm template tollgate tollgate --kube-version "$version" > /dev/null 2>&1; then
  echo 'The chart renders without being told where anything is.' >&2
  exit 1
fi

# Kinds of operators that must be installed first. Kubernetes has no schemas for them.
others=ScaledObject,ServiceMonitor
if command -v kubernetes-validate > /dev/null; then
  kubernetes-validate --strict --quiet --kubernetes-version "${version%.*}" "$rendered"/*.yaml
elif [ "$download" = yes ] && command -v kubeconform > /dev/null; then
  kubeconform -strict -summary -kubernetes-version "$version" -skip "$others" "$rendered"/*.yaml
else
  echo 'Neither kubeconform nor kubernetes-validate is here: rendered, but not held to the schemas.'
fi
echo 'The chart is in order.'
