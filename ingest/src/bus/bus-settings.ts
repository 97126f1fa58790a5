import {
  choiceSetting,
  integerSetting,
  secretSetting,
  textSetting,
  type SettingValues,
} from '@tollgate/platform/config/settings'
import { environments } from '@tollgate/schemas/environment'

const milliseconds = { min: 100, max: 3_600_000 }
const count = { min: 1, max: 1_000_000 }

/** Settings of the internal message bus. The bus is off unless `TOLLGATE_NATS_URL` is set. */
export const busSettings = {
  natsUrl: {
    variable: 'TOLLGATE_NATS_URL',
    description:
      'Servers of the message bus on which internal services publish usage, as nats:// or tls:// URLs separated by commas; if empty, no bus is used',
    defaultText: '',
    parse: parseServers,
    // An operator may have put a password into the URL.
    isSecret: true as const,
  },
  natsMode: choiceSetting(
    'TOLLGATE_NATS_MODE',
    'How messages are consumed: jetstream loses none that the stream has stored, subjects stores none and may lose some',
    ['jetstream', 'subjects'],
    'jetstream',
  ),
  natsService: {
    variable: 'TOLLGATE_NATS_SERVICE',
    description:
      'The <service> part of the subjects <service>.meter.record and <service>.meter.recordBulk; * accepts any',
    defaultText: '*',
    parse: parseToken,
  },
  natsStream: {
    variable: 'TOLLGATE_NATS_STREAM',
    description: 'JetStream stream that stores both subjects; created if it does not exist',
    defaultText: 'tollgate-meters',
    parse: parseName,
  },
  natsGroup: {
    variable: 'TOLLGATE_NATS_GROUP',
    description:
      'Durable name of the consumer (jetstream) or queue group (subjects) that all ingest processes share',
    defaultText: 'tollgate-ingest',
    parse: parseName,
  },
  natsStreamDays: integerSetting(
    'TOLLGATE_NATS_STREAM_DAYS',
    'Days that a stream created by ingest keeps messages; usage older than 30 days is refused',
    7,
    { min: 1, max: 30 },
  ),
  natsStreamBytesMax: integerSetting(
    'TOLLGATE_NATS_STREAM_BYTES_MAX',
    'Bytes that a stream created by ingest stores at most; a full stream refuses new messages',
    1_073_741_824,
    { min: 1_048_576, max: 1_099_511_627_776 },
  ),
  natsStreamReplicas: integerSetting(
    'TOLLGATE_NATS_STREAM_REPLICAS',
    'Number of servers that store a stream created by ingest; use 3 for a cluster',
    1,
    { min: 1, max: 5 },
  ),
  natsBatchMax: integerSetting(
    'TOLLGATE_NATS_BATCH_MAX',
    'Maximum messages that are requested from the stream and appended to the log at a time',
    500,
    { min: 1, max: 10_000 },
  ),
  natsAckWaitMs: integerSetting(
    'TOLLGATE_NATS_ACK_WAIT_MS',
    'Milliseconds after which the server delivers an unacknowledged message again if no process works on it',
    30_000,
    { min: 1_000, max: 3_600_000 },
  ),
  natsUnacknowledgedMax: integerSetting(
    'TOLLGATE_NATS_UNACKNOWLEDGED_MAX',
    'Maximum messages that are delivered and not yet acknowledged, over all processes',
    5_000,
    count,
  ),
  natsMessagesInFlightMax: integerSetting(
    'TOLLGATE_NATS_MESSAGES_IN_FLIGHT_MAX',
    'Maximum messages that this process has received and not finished',
    2_000,
    count,
  ),
  natsBytesInFlightMax: integerSetting(
    'TOLLGATE_NATS_BYTES_IN_FLIGHT_MAX',
    'Maximum bytes of the messages that this process has received and not finished',
    67_108_864,
    { min: 1_048_576, max: 4_294_967_296 },
  ),
  natsRetryMsMax: integerSetting(
    'TOLLGATE_NATS_RETRY_MS_MAX',
    'Longest delay in milliseconds before a message is retried that the log did not store; the first delay is 1 s and each next one doubles',
    30_000,
    { min: 1_000, max: 3_600_000 },
  ),
  natsProvider: textSetting(
    'TOLLGATE_NATS_PROVIDER',
    'Reference of the only provider whose customers messages may name, also by external references; empty: all providers, by cus_ references',
    '',
  ),
  natsEnvironment: choiceSetting(
    'TOLLGATE_NATS_ENVIRONMENT',
    'The only environment whose customers messages may name',
    ['any', ...environments],
    'any',
  ),
  natsCustomersFreshMs: integerSetting(
    'TOLLGATE_NATS_CUSTOMERS_FRESH_MS',
    'Milliseconds for which the provider of a customer is used from memory before it is read again',
    60_000,
    milliseconds,
  ),
  natsCustomersMax: integerSetting(
    'TOLLGATE_NATS_CUSTOMERS_MAX',
    'Maximum customers whose provider is kept in memory',
    100_000,
    count,
  ),
  natsUser: textSetting('TOLLGATE_NATS_USER', 'User name for the message bus; empty: none', ''),
  natsPassword: secretSetting(
    'TOLLGATE_NATS_PASSWORD',
    'Password of TOLLGATE_NATS_USER',
    (text) => text,
  ),
  natsToken: secretSetting(
    'TOLLGATE_NATS_TOKEN',
    'Token for a message bus that authenticates with a token instead of a user',
    (text) => text,
  ),
  natsCredentialsFile: textSetting(
    'TOLLGATE_NATS_CREDENTIALS_FILE',
    'File with a JWT and its seed (.creds), for a message bus with decentralized authentication; empty: none',
    '',
  ),
  natsPingIntervalMs: integerSetting(
    'TOLLGATE_NATS_PING_INTERVAL_MS',
    'Milliseconds between pings; the connection is opened again after two pings without an answer',
    10_000,
    milliseconds,
  ),
  natsReconnectMs: integerSetting(
    'TOLLGATE_NATS_RECONNECT_MS',
    'Milliseconds between two attempts to connect; the attempts never stop',
    2_000,
    milliseconds,
  ),
}

export type BusConfig = SettingValues<typeof busSettings> & { readonly shutdownGraceMs: number }

function parseServers(text: string): readonly string[] {
  if (text === '') return []
  const servers = text.split(',').map((each) => each.trim())
  if (servers.every((each) => /^(nats|tls):\/\/[^\s/@]+$/.test(each))) return servers
  throw new Error(
    'must be nats://host:port or tls://host:port, with commas between. Credentials have settings of their own',
  )
}

function parseToken(text: string): string {
  if (text === '*' || /^[\w-]+$/.test(text)) return text
  throw new Error('must be one part of a subject (letters, digits, _ and -) or *')
}

function parseName(text: string): string {
  if (/^[\w-]+$/.test(text)) return text
  throw new Error('must be letters, digits, _ and -')
}
