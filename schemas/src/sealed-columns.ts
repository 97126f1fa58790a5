/**
 * Every column that holds sealed secrets: nothing can be sealed for another one. `secrets rotate` seals anew what is in the
 * environments' schemas; what is in the control schema is gone within minutes.
 */
export const sealedColumns = [
  { schema: 'environment', table: 'mcp_servers', id: 'reference', column: 'auth_key' },
  { schema: 'environment', table: 'webhook_secrets', id: 'reference', column: 'secret' },
  { schema: 'environment', table: 'oauth_signing_keys', id: 'kid', column: 'private_jwk' },
  { schema: 'environment', table: 'oauth_records', id: 'record_sha256', column: 'payload' },
  { schema: 'control', table: 'cli_session_outcomes', id: 'session_id', column: 'sealed_key' },
] as const

export type SealedColumn = (typeof sealedColumns)[number]
