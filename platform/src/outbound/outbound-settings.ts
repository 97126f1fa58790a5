import { integerSetting, type Setting } from '../config/settings.ts'
import { parseAllowList, type AllowList } from './allow-list.ts'

const milliseconds = { min: 1, max: 600_000 }

const allowedSetting: Setting<AllowList> = {
  variable: 'TOLLGATE_OUTBOUND_ALLOWED',
  description:
    'Hosts, addresses and networks, with commas between them, that the addresses providers give may lead to although they ' +
    'are not public: on any port, and in sandbox also without TLS',
  defaultText: '',
  parse: parseAllowList,
}

const sandboxAllowedSetting: Setting<AllowList> = {
  variable: 'TOLLGATE_OUTBOUND_SANDBOX_ALLOWED',
  description:
    'More of these for sandbox alone. npm start, which only its own machine reaches, takes localhost where nothing is set',
  defaultText: '',
  parse: parseAllowList,
}

const portsSetting: Setting<readonly number[]> = {
  variable: 'TOLLGATE_OUTBOUND_PORTS',
  description: 'Ports that the addresses providers give may lead to, with commas between them',
  defaultText: '443',
  parse: (text) => text.split(',').map(parsePort),
}

/** How requests to addresses that providers give are kept within bounds. */
export const outboundSettings = {
  outboundAllowed: allowedSetting,
  outboundSandboxAllowed: sandboxAllowedSetting,
  outboundPorts: portsSetting,
  outboundConnectTimeoutMs: integerSetting(
    'TOLLGATE_OUTBOUND_CONNECT_TIMEOUT_MS',
    'Milliseconds that connecting to such an address may take',
    3_000,
    milliseconds,
  ),
  outboundTimeoutMs: integerSetting(
    'TOLLGATE_OUTBOUND_TIMEOUT_MS',
    'Milliseconds that one request to such an address may take',
    10_000,
    milliseconds,
  ),
  outboundConnectionsPerOriginMax: integerSetting(
    'TOLLGATE_OUTBOUND_CONNECTIONS_PER_ORIGIN_MAX',
    'Connections that are open at once to one scheme, host and port of such an address',
    256,
    { min: 1, max: 10_000 },
  ),
}

function parsePort(text: string): number {
  const port = Number(text)
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return port
  throw new Error(`${text} is no port`)
}
