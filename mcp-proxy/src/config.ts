import { parseUrl } from '@tollgate/schemas/parse-url'
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
    'Origins of web pages that may call MCP servers from a browser, separated by commas. Requests without an `Origin` header, ' +
    'pages of this machine and pages of the MCP server itself are always allowed; `*` allows every page',
  defaultText: 'https://claude.ai,https://chatgpt.com,https://vscode.dev',
  parse: (text) => {
    const entries = text.split(',').map((each) => each.trim())
    const named = entries.filter((each) => each !== '')
    for (const each of named) {
      if (each === '*' || parseUrl(each)?.origin === each) continue
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
    'Port of the MCP proxy; 0 takes any free port',
    8788,
    port,
  ),
  ...operatorSettings,
  databaseConnectionsMax: integerSetting(
    'TOLLGATE_DATABASE_CONNECTIONS_MAX',
    'Maximum connections to PostgreSQL per environment',
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
    'Milliseconds for which MCP servers, tools, signing keys and revoked tokens are used from memory before they are read again',
    2_000,
    milliseconds,
  ),
  staleMaxMs: integerSetting(
    'TOLLGATE_MCP_STALE_MAX_MS',
    'Maximum milliseconds for which data that was read before is used while PostgreSQL is unavailable; after that, requests are answered with 503',
    900_000,
    { min: 1_000, max: 86_400_000 },
  ),
  bodyBytesMax: integerSetting(
    'TOLLGATE_MCP_BODY_BYTES_MAX',
    'Maximum bytes of one request to an MCP server',
    4_194_304,
    bytes,
  ),
  resultBytesMax: integerSetting(
    'TOLLGATE_MCP_RESULT_BYTES_MAX',
    'Maximum bytes of one message of an MCP server; a larger message fails the call',
    16_777_216,
    bytes,
  ),
  stateBytesMax: integerSetting(
    'TOLLGATE_MCP_STATE_BYTES_MAX',
    'Maximum bytes of the JSON of a requestState with which an MCP server requests input; a larger one fails the call',
    262_144,
    { min: 1_024, max: 16_777_216 },
  ),
  batchMax: integerSetting(
    'TOLLGATE_MCP_BATCH_MAX',
    'Maximum messages in one batch of MCP 2025-03-26',
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
    'How long a client may leave a response unread before its connection is closed, in milliseconds',
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
    'Maximum duration of one request other than a subscription, in milliseconds, even if its MCP server keeps sending',
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
    'Milliseconds between comments on an open response, so that no proxy in between closes the connection as idle',
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
    'Maximum open connections to one MCP server for requests, and the same number for streams of notifications',
    1_024,
    { min: 1, max: 65_535 },
  ),
  requestsPerCustomerMax: integerSetting(
    'TOLLGATE_MCP_REQUESTS_PER_CUSTOMER_MAX',
    'Maximum open requests of one customer per process of the proxy, or of the callers of one network without a token. Each may need the memory of one body and one result',
    128,
    { min: 1, max: 65_535 },
  ),
  requestsPerProviderMax: integerSetting(
    'TOLLGATE_MCP_REQUESTS_PER_PROVIDER_MAX',
    'Maximum open requests to the MCP servers of one provider per process of the proxy',
    1_024,
    { min: 1, max: 65_535 },
  ),
  requestsMax: integerSetting(
    'TOLLGATE_MCP_REQUESTS_MAX',
    'Maximum open requests to all MCP servers per process of the proxy. Each of the three limits on open requests allows as many notifications, responses and DELETE requests in addition',
    8_192,
    { min: 1, max: 1_000_000 },
  ),
  streamsPerCustomerMax: integerSetting(
    'TOLLGATE_MCP_STREAMS_PER_CUSTOMER_MAX',
    'Maximum open streams of notifications of one customer per process of the proxy, or of the callers of one network without a token',
    64,
    { min: 1, max: 65_535 },
  ),
  streamsPerProviderMax: integerSetting(
    'TOLLGATE_MCP_STREAMS_PER_PROVIDER_MAX',
    'Maximum open streams of notifications of the MCP servers of one provider per process of the proxy',
    1_024,
    { min: 1, max: 65_535 },
  ),
  streamsMax: integerSetting(
    'TOLLGATE_MCP_STREAMS_MAX',
    'Maximum open streams of notifications of all MCP servers per process of the proxy',
    8_192,
    { min: 1, max: 1_000_000 },
  ),
  sessionHours: integerSetting(
    'TOLLGATE_MCP_SESSION_HOURS',
    'Hours after which a session of MCP 2025-11-25 and earlier expires',
    720,
    { min: 1, max: 8_760 },
  ),
  sessionsRememberedMax: integerSetting(
    'TOLLGATE_MCP_SESSIONS_REMEMBERED_MAX',
    'Maximum sessions for which one process remembers that they ended or were resumed at a restarted MCP server',
    50_000,
    { min: 100, max: 10_000_000 },
  ),
  inputMinutes: integerSetting(
    'TOLLGATE_MCP_INPUT_MINUTES',
    'Minutes for which a call of MCP 2026-07-28 waits for the input that it requested',
    60,
    { min: 1, max: 10_080 },
  ),
  listSeconds: integerSetting(
    'TOLLGATE_MCP_LIST_SECONDS',
    'Seconds for which clients of MCP 2026-07-28 may use a list of tools again; 0 makes them request it each time',
    60,
    { min: 0, max: 86_400 },
  ),
  discoveryPauseMs: integerSetting(
    'TOLLGATE_MCP_DISCOVERY_PAUSE_MS',
    'Minimum milliseconds between two discoveries of the tools of an MCP server whose lists differ from the known tools',
    60_000,
    { min: 1_000, max: 86_400_000 },
  ),
  stopMs: integerSetting(
    'TOLLGATE_MCP_STOP_MS',
    'Milliseconds that open requests may take to finish when the proxy stops',
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
