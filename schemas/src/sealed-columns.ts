/**
 * All columns that contain encrypted secrets. A secret cannot be encrypted for any other column. `secrets rotate` encrypts those in
 * the environments' schemas again; those in the control schema are deleted within minutes.
 */
export const sealedColumns = [
  { schema: 'environment', table: 'mcp_servers', id: 'reference', column: 'auth_key' },
  { schema: 'environment', table: 'webhook_secrets', id: 'reference', column: 'secret' },
  { schema: 'environment', table: 'tax_services', id: 'provider_id', column: 'secret' },
  { schema: 'environment', table: 'oauth_signing_keys', id: 'kid', column: 'private_jwk' },
  { schema: 'environment', table: 'oauth_records', id: 'record_sha256', column: 'payload' },
  { schema: 'control', table: 'cli_session_outcomes', id: 'session_id', column: 'sealed_key' },
] as const

export type SealedColumn = (typeof sealedColumns)[number]
