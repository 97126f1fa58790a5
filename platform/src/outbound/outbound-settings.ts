import { integerSetting, type Setting } from '../config/settings.ts'
import { parseAllowList, type AllowList } from './allow-list.ts'

const milliseconds = { min: 1, max: 600_000 }

const allowedSetting: Setting<AllowList> = {
  variable: 'TOLLGATE_OUTBOUND_ALLOWED',
  description:
    'Hosts, addresses and networks, separated by commas, that URLs of providers may reach although they ' +
    'are not public: on any port, and in sandbox also without TLS',
  defaultText: '',
  parse: parseAllowList,
}

const sandboxAllowedSetting: Setting<AllowList> = {
  variable: 'TOLLGATE_OUTBOUND_SANDBOX_ALLOWED',
  description:
    'Additional entries for sandbox only. npm start, which only its own machine reaches, allows localhost by default',
  defaultText: '',
  parse: parseAllowList,
}

const portsSetting: Setting<readonly number[]> = {
  variable: 'TOLLGATE_OUTBOUND_PORTS',
  description: 'Ports that URLs of providers may use, separated by commas',
  defaultText: '443',
  parse: (text) => text.split(',').map(parsePort),
}

/** Limits of requests to URLs of providers. */
export const outboundSettings = {
  outboundAllowed: allowedSetting,
  outboundSandboxAllowed: sandboxAllowedSetting,
  outboundPorts: portsSetting,
  outboundConnectTimeoutMs: integerSetting(
    'TOLLGATE_OUTBOUND_CONNECT_TIMEOUT_MS',
    'Timeout for connecting to a URL of a provider, in milliseconds',
    3_000,
    milliseconds,
  ),
  outboundTimeoutMs: integerSetting(
    'TOLLGATE_OUTBOUND_TIMEOUT_MS',
    'Timeout for one request to a URL of a provider, in milliseconds',
    10_000,
    milliseconds,
  ),
  outboundConnectionsPerOriginMax: integerSetting(
    'TOLLGATE_OUTBOUND_CONNECTIONS_PER_ORIGIN_MAX',
    "Maximum connections to one scheme, host and port of a provider's URL",
    256,
    { min: 1, max: 10_000 },
  ),
}

function parsePort(text: string): number {
  const port = Number(text)
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return port
  throw new Error(`${text} is not a port`)
}
