{{/* The services of the chart: their key in the values, and the program of the image. */}}
{{- define "tollgate.components" -}}
ingest: ingest/dist/main.js
controlPlane: control-plane/dist/main.js
billingRunner: billing-runner/dist/main.js
webhookDispatcher: webhook-dispatcher/dist/main.js
mcpProxy: mcp-proxy/dist/main.js
counters: aggregator/dist/main.js
sink: aggregator/dist/main.js
{{- end }}

{{- define "tollgate.fullname" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 46 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 46 | trimSuffix "-" }}{{ end }}
{{- end }}

{{/* Returns the name of a component. Argument: (dict "root" $ "component" "controlPlane"). */}}
{{- define "tollgate.name" -}}
{{ include "tollgate.fullname" .root }}-{{ kebabcase .component }}
{{- end }}

{{- define "tollgate.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ kebabcase .component }}
{{- end }}

{{- define "tollgate.labels" -}}
{{ include "tollgate.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "tollgate.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* The engines whose certificates a service gets as files. */}}
{{- define "tollgate.certifiedEngines" -}}
{{- range $engine := list "kafka" "redis" "clickhouse" }}
{{- if and (index $.root.Values $engine).tls.secret (ne $.component "mcpProxy") (not (and (eq $engine "clickhouse") (eq $.component "ingest"))) }}
- {{ $engine }}
{{- end }}
{{- end }}
{{- end }}

{{/* Variables of all services, then those of one service, then those of the values. The last one wins. */}}
{{- define "tollgate.environment" -}}
{{- $values := .root.Values }}
{{- $ingest := include "tollgate.name" (dict "root" .root "component" "ingest") }}
{{- $controlPlane := include "tollgate.name" (dict "root" .root "component" "controlPlane") }}
{{- $environment := dict }}
{{- if ne .component "mcpProxy" }}
{{- $environment = dict
    "TOLLGATE_EVENT_LOG" "kafka"
    "TOLLGATE_KAFKA_BROKERS" $values.kafka.brokers
    "TOLLGATE_KAFKA_SASL_MECHANISM" $values.kafka.saslMechanism
    "TOLLGATE_KAFKA_TLS" (ternary "yes" "no" $values.kafka.tls.enabled)
    "TOLLGATE_SCHEMA_REGISTRY_URL" $values.schemaRegistry.url
    "TOLLGATE_HOT_STATE" "redis" }}
{{- end }}
{{- if has .component (list "controlPlane" "mcpProxy") }}
{{- $_ := set $environment "TOLLGATE_MCP_LIVE_URL" $values.mcpProxy.liveUrl }}
{{- $_ := set $environment "TOLLGATE_MCP_SANDBOX_URL" $values.mcpProxy.sandboxUrl }}
{{- end }}
{{- if eq .component "controlPlane" }}
{{- $_ := set $environment "TOLLGATE_INGEST_URL" (printf "http://%s:%v" $ingest $values.ingest.service.port) }}
{{- with $values.signIn.smtpFrom }}
{{- $_ := set $environment "TOLLGATE_SMTP_FROM" . }}
{{- end }}
{{- with $values.signIn.githubUrl }}
{{- $_ := set $environment "TOLLGATE_GITHUB_URL" . }}
{{- end }}
{{- end }}
{{- if eq .component "mcpProxy" }}
{{- $_ := set $environment "TOLLGATE_INGEST_URL" (printf "http://%s:%v" $ingest $values.ingest.service.port) }}
{{- $_ := set $environment "TOLLGATE_CONTROL_PLANE_URL" (printf "http://%s:8788" $controlPlane) }}
{{- $_ := set $environment "TOLLGATE_DATA_DIR" "/var/lib/tollgate" }}
{{- $_ := set $environment "TOLLGATE_TRUSTED_PROXIES" $values.mcpProxy.trustedProxies }}
{{- /* The volume ends with the pod, so ingest gets most of the grace period to take what is left. */}}
{{- $_ := set $environment "TOLLGATE_MCP_JOURNAL_STOP_GRACE_MS" "20000" }}
{{- else if eq .component "ingest" }}
{{- with $values.nats.url }}
{{- $_ := set $environment "TOLLGATE_NATS_URL" . }}
{{- $_ := set $environment "TOLLGATE_NATS_MODE" $values.nats.mode }}
{{- $_ := set $environment "TOLLGATE_NATS_USER" $values.nats.user }}
{{- $_ := set $environment "TOLLGATE_NATS_STREAM_REPLICAS" $values.nats.replicas }}
{{- end }}
{{- $_ := set $environment "TOLLGATE_CONTROL_PLANE_URL" (printf "http://%s:8788" $controlPlane) }}
{{- $_ := set $environment "TOLLGATE_TRUSTED_PROXIES" $values.ingest.trustedProxies }}
{{- $_ := set $environment "TOLLGATE_LOG_PARTITIONS" $values.kafka.partitions }}
{{- $_ := set $environment "TOLLGATE_KAFKA_REPLICATION" $values.kafka.replication }}
{{- $_ := set $environment "TOLLGATE_KAFKA_MIN_IN_SYNC" $values.kafka.minInSync }}
{{- else }}
{{- $_ := set $environment "TOLLGATE_CLICKHOUSE_URL" $values.clickhouse.url }}
{{- $_ := set $environment "TOLLGATE_CLICKHOUSE_USERNAME" $values.clickhouse.username }}
{{- with $values.clickhouse.cluster }}
{{- $_ := set $environment "TOLLGATE_CLICKHOUSE_CLUSTER" . }}
{{- $_ := set $environment "TOLLGATE_CLICKHOUSE_INSERT_QUORUM" $values.clickhouse.insertQuorum }}
{{- end }}
{{- end }}
{{- if has .component (list "controlPlane" "billingRunner") }}
{{- with $values.hostedUrl }}
{{- $_ := set $environment "TOLLGATE_HOSTED_URL" . }}
{{- end }}
{{- end }}
{{- with $values.tracing.endpoint }}
{{- $_ := set $environment "OTEL_EXPORTER_OTLP_ENDPOINT" . }}
{{- $_ := set $environment "OTEL_TRACES_SAMPLER_ARG" $values.tracing.sampleRatio }}
{{- end }}
{{- range $engine := include "tollgate.certifiedEngines" . | fromYamlArray }}
{{- $prefix := printf "TOLLGATE_%s" (upper $engine) }}
{{- $_ := set $environment (printf "%s_CA_FILE" $prefix) (printf "/etc/tollgate/%s/ca.crt" $engine) }}
{{- if (index $values $engine).tls.clientCertificate }}
{{- $_ := set $environment (printf "%s_CERT_FILE" $prefix) (printf "/etc/tollgate/%s/tls.crt" $engine) }}
{{- $_ := set $environment (printf "%s_KEY_FILE" $prefix) (printf "/etc/tollgate/%s/tls.key" $engine) }}
{{- end }}
{{- end }}
{{- if has .component (list "counters" "sink") }}
{{- $_ := set $environment "TOLLGATE_PROJECTION" .component }}
{{- end }}
{{- $environment = mustMergeOverwrite $environment $values.environment (index $values .component).environment }}
{{- range $name, $value := $environment }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}

{{/* Secret variables, by reference to the secret. The chart does not contain the secrets. */}}
{{- define "tollgate.secretEnvironment" -}}
{{- $secret := .root.Values.existingSecret }}
{{- if has .component (list "ingest" "controlPlane" "mcpProxy") }}
- name: TOLLGATE_SERVICE_SECRET
  valueFrom:
    secretKeyRef: { name: {{ $secret }}, key: service-secret }
{{- end }}
{{- if and (eq .component "ingest") .root.Values.nats.url }}
- name: TOLLGATE_NATS_PASSWORD
  valueFrom:
    secretKeyRef: { name: {{ $secret }}, key: nats-password, optional: true }
- name: TOLLGATE_NATS_TOKEN
  valueFrom:
    secretKeyRef: { name: {{ $secret }}, key: nats-token, optional: true }
{{- end }}
{{- if ne .component "mcpProxy" }}
{{- if ne .root.Values.kafka.saslMechanism "none" }}
- name: TOLLGATE_KAFKA_SASL_USERNAME
  valueFrom:
    secretKeyRef: { name: {{ $secret }}, key: kafka-username }
- name: TOLLGATE_KAFKA_SASL_PASSWORD
  valueFrom:
    secretKeyRef: { name: {{ $secret }}, key: kafka-password }
{{- end }}
{{- if .root.Values.schemaRegistry.authenticated }}
- name: TOLLGATE_SCHEMA_REGISTRY_USERNAME
  valueFrom:
    secretKeyRef: { name: {{ $secret }}, key: schema-registry-username }
- name: TOLLGATE_SCHEMA_REGISTRY_PASSWORD
  valueFrom:
    secretKeyRef: { name: {{ $secret }}, key: schema-registry-password }
{{- end }}
{{- if .root.Values.redis.cluster }}
- name: TOLLGATE_REDIS_CLUSTER_NODES
  valueFrom:
    secretKeyRef: { name: {{ $secret }}, key: redis-cluster-nodes }
{{- else }}
- name: TOLLGATE_REDIS_URL
  valueFrom:
    secretKeyRef: { name: {{ $secret }}, key: redis-url }
{{- end }}
{{- end }}
{{- if has .component (list "controlPlane" "billingRunner" "webhookDispatcher" "mcpProxy") }}
- name: TOLLGATE_DATABASE_URL
  valueFrom:
    secretKeyRef: { name: {{ $secret }}, key: database-url }
- name: TOLLGATE_DATABASE_REQUESTS_URL
  valueFrom:
    secretKeyRef: { name: {{ $secret }}, key: database-requests-url, optional: true }
- name: TOLLGATE_DATABASE_OWNER_URL
  valueFrom:
    secretKeyRef: { name: {{ $secret }}, key: database-owner-url, optional: true }
{{- end }}
{{- if has .component (list "controlPlane" "billingRunner") }}
- name: TOLLGATE_STRIPE_SANDBOX_SECRET_KEY
  valueFrom:
    secretKeyRef: { name: {{ $secret }}, key: stripe-sandbox-secret-key, optional: true }
- name: TOLLGATE_STRIPE_LIVE_SECRET_KEY
  valueFrom:
    secretKeyRef: { name: {{ $secret }}, key: stripe-live-secret-key, optional: true }
{{- end }}
{{- if has .component (list "controlPlane" "billingRunner" "webhookDispatcher" "mcpProxy") }}
- name: TOLLGATE_SECRET_KEYS
  valueFrom:
    secretKeyRef: { name: {{ $secret }}, key: secret-keys, optional: true }
{{- end }}
{{- if eq .component "controlPlane" }}
- name: TOLLGATE_SMTP_URL
  valueFrom:
    secretKeyRef: { name: {{ $secret }}, key: smtp-url, optional: true }
- name: TOLLGATE_GOOGLE_CLIENT_ID
  valueFrom:
    secretKeyRef: { name: {{ $secret }}, key: google-client-id, optional: true }
- name: TOLLGATE_GOOGLE_CLIENT_SECRET
  valueFrom:
    secretKeyRef: { name: {{ $secret }}, key: google-client-secret, optional: true }
- name: TOLLGATE_GITHUB_CLIENT_ID
  valueFrom:
    secretKeyRef: { name: {{ $secret }}, key: github-client-id, optional: true }
- name: TOLLGATE_GITHUB_CLIENT_SECRET
  valueFrom:
    secretKeyRef: { name: {{ $secret }}, key: github-client-secret, optional: true }
- name: TOLLGATE_STRIPE_SANDBOX_PUBLISHABLE_KEY
  valueFrom:
    secretKeyRef: { name: {{ $secret }}, key: stripe-sandbox-publishable-key, optional: true }
- name: TOLLGATE_STRIPE_SANDBOX_WEBHOOK_SECRETS
  valueFrom:
    secretKeyRef: { name: {{ $secret }}, key: stripe-sandbox-webhook-secrets, optional: true }
- name: TOLLGATE_STRIPE_LIVE_PUBLISHABLE_KEY
  valueFrom:
    secretKeyRef: { name: {{ $secret }}, key: stripe-live-publishable-key, optional: true }
- name: TOLLGATE_STRIPE_LIVE_WEBHOOK_SECRETS
  valueFrom:
    secretKeyRef: { name: {{ $secret }}, key: stripe-live-webhook-secrets, optional: true }
{{- end }}
{{- if not (has .component (list "ingest" "mcpProxy")) }}
- name: TOLLGATE_CLICKHOUSE_PASSWORD
  valueFrom:
    secretKeyRef: { name: {{ $secret }}, key: clickhouse-password, optional: true }
{{- end }}
{{- end }}
