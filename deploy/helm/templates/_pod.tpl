{{/* What each pod has, whatever it runs. Called with a dict: root, component, args, isMigration, isServer, claimName and restartPolicy.
     The data folder of a StatefulSet is a claim of its own for each pod, and the migration has none. */}}
{{- define "influencer-sync.labels" -}}
app.kubernetes.io/name: influencer-sync
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}

{{- define "influencer-sync.selector" -}}
app.kubernetes.io/name: influencer-sync
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "influencer-sync.claim" -}}
accessModes: {{ toJson .Values.data.accessModes }}
{{- with .Values.data.storageClass }}
storageClassName: {{ . }}
{{- end }}
resources: { requests: { storage: {{ .Values.data.size }} } }
{{- end }}

{{/* The claims of a StatefulSet, one for each pod. They outlive the pods and the release. */}}
{{- define "influencer-sync.claims" -}}
volumeClaimTemplates:
  - metadata:
      name: data
    spec: {{- include "influencer-sync.claim" . | nindent 6 }}
{{- end }}

{{- define "influencer-sync.image" -}}
{{ .Values.image.repository }}{{ if hasPrefix "sha256:" .Values.image.tag }}@{{ else }}:{{ end }}{{ .Values.image.tag }}
{{- end }}

{{/* The keys of the Secret, by the variables that they are for. Only the migration has the password of the owner of the tables. */}}
{{- define "influencer-sync.secretKeys" -}}
{{- if .isMigration }}
{{- toJson (dict "DATABASE_URL" "migration-url") }}
{{- else }}
{{- toJson (dict "DATABASE_URL" "database-url" "INFLUENCER_API_KEY" "api-key" "CUSTOMER_HASH_KEY" "customer-hash-key") }}
{{- end }}
{{- end }}

{{/* Fails if a secret has two sources, which the program would refuse, or none. */}}
{{- define "influencer-sync.checkSecrets" -}}
{{- $values := .root.Values }}
{{- $part := ternary "migration" "jobs" (default false .isMigration) }}
{{- $set := merge (dict) (get $values.secretEnv $part | default dict) ($values.env | default dict) }}
{{- range $name, $key := fromJson (include "influencer-sync.secretKeys" .) }}
{{- $sources := list }}
{{- range $suffix := list "" "_FILE" "_AWS_SECRET" "_AWS_PARAMETER" }}
{{- if hasKey $set (print $name $suffix) }}{{ $sources = append $sources (print $name $suffix) }}{{ end }}
{{- end }}
{{- if and $values.secret $sources }}
{{- fail (printf "%s is set, but the Secret %s has %s already. Set secret to \"\" and give every secret a source in secretEnv, or remove the variable." (join " and " $sources) $values.secret $key) }}
{{- else if gt (len $sources) 1 }}
{{- fail (printf "secretEnv.%s: %s are set. Keep one of them." $part (join " and " $sources)) }}
{{- else if not (or $values.secret $sources (eq $name "CUSTOMER_HASH_KEY")) }}
{{- fail (printf "secretEnv.%s: %s has no source. Set it, %s_FILE, %s_AWS_SECRET or %s_AWS_PARAMETER, or name an existing Secret (secret)." $part $name $name $name $name) }}
{{- end }}
{{- end }}
{{- end }}

{{- define "influencer-sync.pod" -}}
{{- include "influencer-sync.checkSecrets" . }}
{{- $values := .root.Values }}
{{- $secretEnv := get $values.secretEnv (ternary "migration" "jobs" (default false .isMigration)) | default dict }}
{{- $secretKeys := fromJson (include "influencer-sync.secretKeys" .) -}}
metadata:
  labels:
    {{- include "influencer-sync.selector" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
  {{- with $values.podAnnotations }}
  annotations: {{ toJson . }}
  {{- end }}
spec:
  {{- /* Helm creates the account of the chart after it has run the migration. */}}
  serviceAccountName: {{ $values.serviceAccount.name | default (ternary "default" .root.Release.Name (default false .isMigration)) }}
  automountServiceAccountToken: false
  {{- with $values.imagePullSecrets }}
  imagePullSecrets: {{ toJson . }}
  {{- end }}
  {{- with .restartPolicy }}
  restartPolicy: {{ . }}
  {{- end }}
  terminationGracePeriodSeconds: {{ $values.terminationGracePeriodSeconds }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 1000
    runAsGroup: 1000
    fsGroup: 1000
    seccompProfile: { type: RuntimeDefault }
  containers:
    - name: influencer-sync
      image: {{ include "influencer-sync.image" .root | quote }}
      imagePullPolicy: {{ $values.image.pullPolicy }}
      args: {{ toJson .args }}
      env:
        {{- if not .isMigration }}
        - { name: INFLUENCER_API_URL, value: {{ required "apiUrl: the address of the service" $values.apiUrl | quote }} }
        {{- end }}
        {{- if $values.secret }}
        {{- range $name, $key := $secretKeys }}
        - { name: {{ $name }}_FILE, value: /secrets/{{ $key }} }
        {{- end }}
        {{- end }}
        {{- range $name, $value := $secretEnv }}
        - { name: {{ $name }}, {{ if kindIs "map" $value }}valueFrom: {{ toJson $value }}{{ else }}value: {{ $value | quote }}{{ end }} }
        {{- end }}
        {{- range $name, $value := $values.env }}
        - { name: {{ $name }}, value: {{ $value | quote }} }
        {{- end }}
      {{- if .isServer }}
      ports:
        - { name: health, containerPort: {{ $values.port }} }
      startupProbe:
        httpGet: { path: /healthz, port: health }
        periodSeconds: 2
        failureThreshold: 30
      livenessProbe:
        httpGet: { path: /healthz, port: health }
        periodSeconds: 30
        timeoutSeconds: 5
      readinessProbe:
        httpGet: { path: /readyz, port: health }
        periodSeconds: 10
        timeoutSeconds: 5
      {{- end }}
      resources: {{ toJson $values.resources }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: { drop: [ALL] }
      volumeMounts:
        - { name: config, mountPath: /config, readOnly: true }
        - { name: layouts, mountPath: /config/layouts, readOnly: true }
        {{- if $values.secret }}
        - { name: secrets, mountPath: /secrets, readOnly: true }
        {{- end }}
        {{- if not .isMigration }}
        - { name: data, mountPath: /data }
        {{- end }}
        - { name: tmp, mountPath: /tmp }
        {{- with $values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    - name: config
      configMap: { name: {{ $values.configMap }} }
    - name: layouts
      configMap: { name: {{ $values.layoutsConfigMap }}, optional: true }
    {{- if $values.secret }}
    - name: secrets
      secret:
        secretName: {{ $values.secret }}
        defaultMode: 0440
        items:
          {{- range $secretKeys }}
          - { key: {{ . }}, path: {{ . }} }
          {{- end }}
    {{- end }}
    {{- with .claimName }}
    - name: data
      persistentVolumeClaim: { claimName: {{ . }} }
    {{- end }}
    - name: tmp
      emptyDir: { sizeLimit: {{ $values.tmpSize }} }
    {{- with $values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end }}
