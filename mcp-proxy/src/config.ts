import { dataDirSetting } from '@tollgate/platform/config/data-dir'
import {
  integerSetting,
  readSettings,
  textSetting,
  type Setting,
  type SettingValues,
} from '@tollgate/platform/config/settings'
import {
  databaseOwnerSettings,
  databaseSettings,
} from '@tollgate/platform/database/postgres/database-settings'
import { outboundSettings } from '@tollgate/platform/outbound/outbound-settings'
import { trustedProxiesSetting } from '@tollgate/platform/service/trusted-proxies'
import { secretSettings } from '@tollgate/platform/secrets/open-secrets'
import { serviceSecretSettings } from '@tollgate/platform/service/service-secret'
import { operatorSettings } from '@tollgate/platform/service/operator-settings'
import { mcpUrlSettings } from '@tollgate/domain/mcp/mcp-url-settings'
import { gateSettings } from './gate/gate-settings.ts'

const milliseconds = { min: 1, max: 3_600_000 }
const port = { min: 0, max: 65_535 }
const bytes = { min: 1_024, max: 1_073_741_824 }

const originsSetting: Setting<ReadonlySet<string>> = {
  variable: 'TOLLGATE_MCP_BROWSER_ORIGINS',
  description:
    'Origins of web pages that may call MCP servers from a browser, with commas between them. Requests without an `Origin` header, ' +
    'pages of this machine and pages of the server itself are always allowed; `*` allows every page',
  defaultText: 'https://claude.ai,https://chatgpt.com,https://vscode.dev',
  parse: (text) => {
    const entries = text.split(',').map((each) => each.trim())
    const named = entries.filter((each) => each !== '')
    for (const each of named) {
      if (each === '*' || (URL.canParse(each) && new URL(each).origin === each)) continue
      throw new Error(`${each} is not an origin such as https://example.com`)
    }
    return new Set(named)
  },
}

/** Settings of the MCP proxy. The defaults of limits and intervals are safe for production. */
export const mcpProxySettings = {
  ...databaseSettings,
  ...databaseOwnerSettings,
  dataDir: dataDirSetting,
  ...secretSettings,
  ...serviceSecretSettings,
  ...outboundSettings,
  ...mcpUrlSettings,
  ...gateSettings,
  host: textSetting('TOLLGATE_MCP_HOST', 'Address that the MCP proxy listens on', '127.0.0.1'),
  port: integerSetting(
    'TOLLGATE_MCP_PORT',
    'Port of the MCP proxy; 0 takes any free one',
    8788,
    port,
  ),
  ...operatorSettings,
  databaseConnectionsMax: integerSetting(
    'TOLLGATE_DATABASE_CONNECTIONS_MAX',
    'Connections to each of the two environments of PostgreSQL',
    4,
    { min: 1, max: 500 },
  ),
  ingestUrl: textSetting(
    'TOLLGATE_INGEST_URL',
    'Address of ingest, for limit checks and usage records',
    'http://127.0.0.1:8787',
  ),
  controlPlaneUrl: textSetting(
    'TOLLGATE_CONTROL_PLANE_URL',
    'Address of the control plane, for sign-in of customers and links to hosted pages',
    'http://127.0.0.1:8080',
  ),
  browserOrigins: originsSetting,
  trustedProxies: trustedProxiesSetting,
  freshMs: integerSetting(
    'TOLLGATE_MCP_FRESH_MS',
    'Milliseconds after which servers, tools, signing keys and revoked tokens are read again',
    2_000,
    milliseconds,
  ),
  staleMaxMs: integerSetting(
    'TOLLGATE_MCP_STALE_MAX_MS',
    'Milliseconds that what was read last is used while PostgreSQL is away; afterwards requests are answered 503',
    900_000,
    { min: 1_000, max: 86_400_000 },
  ),
  bodyBytesMax: integerSetting(
    'TOLLGATE_MCP_BODY_BYTES_MAX',
    'Bytes of one request to an MCP server',
    4_194_304,
    bytes,
  ),
  resultBytesMax: integerSetting(
    'TOLLGATE_MCP_RESULT_BYTES_MAX',
    'Bytes of one message of an MCP server; a larger one fails the call',
    16_777_216,
    bytes,
  ),
  stateBytesMax: integerSetting(
    'TOLLGATE_MCP_STATE_BYTES_MAX',
    'Bytes of JSON that the `requestState` may take with which an MCP server asks for input; a larger one fails the call',
    262_144,
    { min: 1_024, max: 16_777_216 },
  ),
  batchMax: integerSetting(
    'TOLLGATE_MCP_BATCH_MAX',
    'Messages in one batch of MCP 2025-03-26',
    50,
    {
      min: 1,
      max: 1_000,
    },
  ),
  requestTimeoutMs: integerSetting(
    'TOLLGATE_MCP_REQUEST_TIMEOUT_MS',
    'Milliseconds that a client may take to send a request',
    30_000,
    milliseconds,
  ),
  unreadMs: integerSetting(
    'TOLLGATE_MCP_UNREAD_MS',
    'Milliseconds for which a client may read nothing of an answer that waits for it; afterwards its connection is closed',
    60_000,
    milliseconds,
  ),
  originSilenceMs: integerSetting(
    'TOLLGATE_MCP_ORIGIN_SILENCE_MS',
    'Milliseconds without a byte from an MCP server after which a request to it fails',
    300_000,
    milliseconds,
  ),
  callMs: integerSetting(
    'TOLLGATE_MCP_CALL_MS',
    'Milliseconds that one request other than a subscription may take at most, however much its MCP server sends meanwhile',
    3_600_000,
    { min: 1_000, max: 86_400_000 },
  ),
  streamSilenceMs: integerSetting(
    'TOLLGATE_MCP_STREAM_SILENCE_MS',
    'Milliseconds without a byte from an MCP server after which a stream of its notifications ends',
    3_600_000,
    { min: 1_000, max: 86_400_000 },
  ),
  keepAliveMs: integerSetting(
    'TOLLGATE_MCP_KEEP_ALIVE_MS',
    'Milliseconds between comments on an open answer, so that nothing on the way takes it for dead',
    15_000,
    milliseconds,
  ),
  cancelGraceMs: integerSetting(
    'TOLLGATE_MCP_CANCEL_GRACE_MS',
    'Milliseconds that an MCP server may still answer a request that the client has cancelled',
    5_000,
    milliseconds,
  ),
  originConnectionsMax: integerSetting(
    'TOLLGATE_MCP_ORIGIN_CONNECTIONS_MAX',
    'Connections that are open at once to one MCP server for requests, and the same number for streams of notifications',
    1_024,
    { min: 1, max: 65_535 },
  ),
  requestsPerCustomerMax: integerSetting(
    'TOLLGATE_MCP_REQUESTS_PER_CUSTOMER_MAX',
    'Requests that one customer may have open at a process of the proxy, or callers of one network without a token. Each may take the memory of one body and one result',
    128,
    { min: 1, max: 65_535 },
  ),
  requestsPerProviderMax: integerSetting(
    'TOLLGATE_MCP_REQUESTS_PER_PROVIDER_MAX',
    'Requests to the MCP servers of one provider that may be open at a process of the proxy',
    1_024,
    { min: 1, max: 65_535 },
  ),
  requestsMax: integerSetting(
    'TOLLGATE_MCP_REQUESTS_MAX',
    'Requests to all MCP servers that may be open at a process of the proxy. Each of these three limits leaves as many places to notifications, responses and DELETE',
    8_192,
    { min: 1, max: 1_000_000 },
  ),
  streamsPerCustomerMax: integerSetting(
    'TOLLGATE_MCP_STREAMS_PER_CUSTOMER_MAX',
    'Streams of notifications that one customer may have open at a process of the proxy, or callers of one network without a token',
    64,
    { min: 1, max: 65_535 },
  ),
  streamsPerProviderMax: integerSetting(
    'TOLLGATE_MCP_STREAMS_PER_PROVIDER_MAX',
    'Streams of notifications of the MCP servers of one provider that may be open at a process of the proxy',
    1_024,
    { min: 1, max: 65_535 },
  ),
  streamsMax: integerSetting(
    'TOLLGATE_MCP_STREAMS_MAX',
    'Streams of notifications of all MCP servers that may be open at a process of the proxy',
    8_192,
    { min: 1, max: 1_000_000 },
  ),
  sessionHours: integerSetting(
    'TOLLGATE_MCP_SESSION_HOURS',
    'Hours that a session of MCP 2025-11-25 and earlier lasts',
    720,
    { min: 1, max: 8_760 },
  ),
  sessionsRememberedMax: integerSetting(
    'TOLLGATE_MCP_SESSIONS_REMEMBERED_MAX',
    'Sessions that were resumed at a restarted MCP server, or ended, which one process remembers',
    50_000,
    { min: 100, max: 10_000_000 },
  ),
  inputMinutes: integerSetting(
    'TOLLGATE_MCP_INPUT_MINUTES',
    'Minutes that a call of MCP 2026-07-28 waits for the input it asked for',
    60,
    { min: 1, max: 10_080 },
  ),
  listSeconds: integerSetting(
    'TOLLGATE_MCP_LIST_SECONDS',
    'Seconds that clients of MCP 2026-07-28 may keep a list of tools',
    60,
    { min: 0, max: 86_400 },
  ),
  discoveryPauseMs: integerSetting(
    'TOLLGATE_MCP_DISCOVERY_PAUSE_MS',
    'Milliseconds between two discoveries of the tools of an MCP server whose lists show others than those known',
    60_000,
    { min: 1_000, max: 86_400_000 },
  ),
  stopMs: integerSetting(
    'TOLLGATE_MCP_STOP_MS',
    'Milliseconds that open requests have to finish when the proxy stops',
    10_000,
    milliseconds,
  ),
}

export type McpProxyConfig = SettingValues<typeof mcpProxySettings>

export function readMcpProxyConfig(
  environment: Readonly<Record<string, string | undefined>>,
): McpProxyConfig {
  return readSettings(mcpProxySettings, environment)
}
