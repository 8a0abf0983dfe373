{{/* What each pod has, whatever it runs. Called with a dict: root, command, databaseUrl, restartPolicy, and isServer. */}}
{{- define "influencer-sync.labels" -}}
app.kubernetes.io/name: influencer-sync
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}

{{- define "influencer-sync.selector" -}}
app.kubernetes.io/name: influencer-sync
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "influencer-sync.image" -}}
{{ .Values.image.repository }}{{ if hasPrefix "sha256:" .Values.image.tag }}@{{ else }}:{{ end }}{{ .Values.image.tag }}
{{- end }}

{{- define "influencer-sync.pod" -}}
metadata:
  labels:
    {{- include "influencer-sync.selector" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
spec:
  serviceAccountName: {{ .serviceAccount | default .root.Release.Name }}
  automountServiceAccountToken: false
  {{- with .root.Values.imagePullSecrets }}
  imagePullSecrets: {{ toJson . }}
  {{- end }}
  {{- with .restartPolicy }}
  restartPolicy: {{ . }}
  {{- end }}
  terminationGracePeriodSeconds: {{ .root.Values.terminationGracePeriodSeconds }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 1000
    runAsGroup: 1000
    fsGroup: 1000
    seccompProfile: { type: RuntimeDefault }
  containers:
    - name: influencer-sync
      image: {{ include "influencer-sync.image" .root | quote }}
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      args: {{ toJson .args }}
      env:
        - { name: DATABASE_URL_FILE, value: /secrets/{{ .databaseUrl }} }
        {{- if .isJob }}
        - { name: INFLUENCER_API_URL, value: {{ required "apiUrl: the address of the service" .root.Values.apiUrl | quote }} }
        - { name: INFLUENCER_API_KEY_FILE, value: /secrets/api-key }
        - { name: CUSTOMER_HASH_KEY_FILE, value: /secrets/customer-hash-key }
        {{- end }}
        {{- range $name, $value := .root.Values.env }}
        - { name: {{ $name }}, value: {{ $value | quote }} }
        {{- end }}
      {{- if .isServer }}
      ports:
        - { name: health, containerPort: 4080 }
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
      resources: {{ toJson .root.Values.resources }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: { drop: [ALL] }
      volumeMounts:
        - { name: config, mountPath: /config, readOnly: true }
        - { name: secrets, mountPath: /secrets, readOnly: true }
        - { name: data, mountPath: /data }
        - { name: tmp, mountPath: /tmp }
  volumes:
    - name: config
      configMap: { name: {{ .root.Values.configMap }} }
    - name: secrets
      secret:
        secretName: {{ .root.Values.secret }}
        defaultMode: 0440
        # Only the migration has the password of the owner of the tables.
        items:
          - { key: {{ .databaseUrl }}, path: {{ .databaseUrl }} }
          {{- if .isJob }}
          - { key: api-key, path: api-key }
          - { key: customer-hash-key, path: customer-hash-key }
          {{- end }}
    - name: data
      emptyDir: { sizeLimit: {{ .root.Values.dataSize }} }
    - name: tmp
      emptyDir: { sizeLimit: {{ .root.Values.dataSize }} }
{{- end }}
