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
 * Connects once. The connection is made again by itself for as long as it is not closed; the client would give up after
 * ten attempts, and notice after minutes that a server is gone.
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
    // A user that is put right at the server is let in again without a restart here.
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
