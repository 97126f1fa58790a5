import { readFile } from 'node:fs/promises'
import {
  connect,
  credsAuthenticator,
  type NatsConnection,
  type NodeConnectionOptions,
} from '@nats-io/transport-node'
import type { BusConfig } from './bus-settings.ts'

/** Milliseconds that one attempt to connect may take. */
const connectMsMax = 5_000

/**
 * Opens a connection to NATS. The client opens it again after every disconnect until it is closed. With the defaults of the client
 * it would give up after ten attempts, and would notice only after minutes that a server is gone.
 */
export async function connectToNats(config: BusConfig): Promise<NatsConnection> {
  return await connect(await connectionOptions(config))
}

async function connectionOptions(config: BusConfig): Promise<NodeConnectionOptions> {
  const { natsUser, natsPassword, natsToken, natsCredentialsFile } = config
  return {
    servers: [...config.natsUrl],
    name: 'tollgate-ingest',
    timeout: connectMsMax,
    maxReconnectAttempts: -1,
    reconnectTimeWait: config.natsReconnectMs,
    // The connection recovers without a restart of ingest once the user is corrected at the server.
    ignoreAuthErrorAbort: true,
    pingInterval: config.natsPingIntervalMs,
    maxPingOut: 2,
    ...(natsUser === '' ? {} : { user: natsUser, pass: natsPassword }),
    ...(natsToken === '' ? {} : { token: natsToken }),
    ...(natsCredentialsFile === ''
      ? {}
      : { authenticator: credsAuthenticator(await readFile(natsCredentialsFile)) }),
  }
}
