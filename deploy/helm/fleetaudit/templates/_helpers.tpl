{{- define "fleetaudit.name" -}}
{{- printf "%s-fleetaudit" .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{- define "fleetaudit.selector" -}}
app.kubernetes.io/name: fleetaudit
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "fleetaudit.labels" -}}
{{ include "fleetaudit.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
{{- with .Values.labels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "fleetaudit.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}
