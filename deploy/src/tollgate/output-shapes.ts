/** Output of a command for scripts. */
export type OutputShape = {
  /** An example of the `--json` output, or a string that describes it. */
  readonly json: unknown
  /** Description of the `--quiet` output. If absent, nothing is printed. */
  readonly quiet?: string
}

const provider = {
  providerId: 'prv_01J…',
  name: 'Acme',
  defaultCurrency: 'USD',
  email: 'ada@example.com',
  isLive: true,
}
const key = {
  keyId: 'key_01J…',
  providerId: 'prv_01J…',
  environment: 'sandbox',
  name: null,
  last4: 'x7Qd',
  scopes: ['ingest', 'read', 'manage', 'webhooks'],
  isStrict: false,
  state: 'active',
  expiresAt: null,
  revokedAt: null,
}
const secretKey = 'sk_sandbox_…'
const passwordUrl = 'http://127.0.0.1:8787/console/set-password#token=…'
const expiresAt = '2027-01-31T12:00:00.000Z'

export const outputShapes: Readonly<Record<string, OutputShape>> = {
  'provider create': { json: provider, quiet: 'the id of the provider' },
  'provider enable-live': { json: { providerId: 'prv_01J…', isLive: true } },
  'provider rename': { json: { providerId: 'prv_01J…', name: 'Acme' } },
  'provider list': { json: [provider], quiet: 'one id per line' },
  'key create': { json: { ...key, secretKey }, quiet: 'the secret key' },
  'key rotate': {
    json: { ...key, secretKey, predecessor: { keyId: 'key_01H…', expiresAt } },
    quiet: 'the new secret key',
  },
  'key revoke': { json: { keyId: 'key_01J…', state: 'revoked' } },
  'key list': { json: [key], quiet: 'one id per line' },
  'user create': {
    json: {
      userId: 'usr_01J…',
      email: 'ada@example.com',
      name: 'Ada',
      role: 'owner',
      passwordUrl,
      expiresAt,
    },
    quiet: 'the link to set the password',
  },
  'user link': {
    json: { userId: 'usr_01J…', passwordUrl, expiresAt },
    quiet: 'the link to set the password',
  },
  'user remove': { json: { userId: 'usr_01J…', state: 'removed' } },
  'user list': {
    json: [
      {
        userId: 'usr_01J…',
        email: 'ada@example.com',
        name: 'Ada',
        role: 'owner',
        state: 'active',
      },
    ],
    quiet: 'one id per line',
  },
  'secrets rotate': { json: { reencrypted: 2 } },
  'sign-ins end-all': {
    json: [
      { environment: 'sandbox', records: 120, keys: 1 },
      { environment: 'live', records: 0, keys: 0 },
    ],
  },
  'audit verify': {
    json: [
      {
        providerId: 'prv_01J…',
        place: 'live',
        state: 'whole',
        entries: '120',
        head: { number: '4', sha256: '9f86d0…' },
        broken: null,
      },
    ],
  },
  'audit export': {
    json: 'one JSON object per line, an entry or a seal, in every form of output',
    quiet: 'the same lines',
  },
  'ledger verify': { json: { isWhole: true, differences: [] } },
  'billing run': {
    json: [{ environment: 'live', job: 'renewals', outcomes: { done: 3 }, isStopped: false }],
  },
  reconcile: {
    json: 'one object per environment with its reports, findings, repairs and gaps',
  },
  'usage restore': { json: { isComplete: true } },
  clickhouse: {
    json: {
      url: 'http://127.0.0.1:41234',
      username: 'data_team',
      password: '…',
      address: 'http://data_team:…@127.0.0.1:41234/',
      databases: ['live', 'sandbox'],
      curl: "curl -s 'http://127.0.0.1:41234' …",
    },
    quiet: 'the address with user and password',
  },
  recount: {
    json: {
      environment: 'sandbox',
      meter: 'input_tokens',
      version: 2,
      from: '2026-03-01T00:00:00.000Z',
      to: '2026-04-01T00:00:00.000Z',
      records: 1204,
      changes: [
        {
          customerRef: 'user_1',
          productRef: 'prd_01J…',
          month: '2026-03',
          isBilled: false,
          changed: 12,
          refused: 0,
          before: '812',
          after: '1044.5',
        },
      ],
    },
    quiet: 'the reference of each customer whose usage would change, one per line',
  },
  'log verify': {
    json: {
      isWhole: true,
      segments: [
        { number: 1, state: 'whole', records: 150, reason: null, path: '.tollgate/log/…' },
      ],
    },
  },
  'log repair': { json: { isWhole: true, firstSegment: 3, dropped: [1, 2], copies: [] } },
  migrate: { json: { isMoved: true } },
  'completion bash': { json: 'the script, in every form of output', quiet: 'the script' },
  'completion zsh': { json: 'the script, in every form of output', quiet: 'the script' },
  'completion fish': { json: 'the script, in every form of output', quiet: 'the script' },
}
