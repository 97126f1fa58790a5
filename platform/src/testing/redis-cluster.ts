import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { freePorts } from './free-ports.ts'
import { RedisServerProcess } from './redis-server.ts'

const slotsTotal = 16_384
const formsWithinMs = 30_000

export type RedisClusterNode = {
  readonly id: string
  readonly server: RedisServerProcess
  /** Connection to the node itself, which does not follow redirections. */
  readonly client: Redis
}

/** A Redis Cluster for one test: masters that share the slots, each with one replica. */
export class RedisTestCluster {
  readonly masters: readonly RedisClusterNode[]
  readonly replicas: readonly RedisClusterNode[]

  static async start(folder: string, mastersTotal = 3): Promise<RedisTestCluster> {
    const ports = await freePorts(mastersTotal * 4)
    const nodes = await Promise.all(
      Array.from({ length: mastersTotal * 2 }, (_, index) =>
        startNode(join(folder, `${index}`), ports[index * 2]!, ports[index * 2 + 1]!),
      ),
    )
    const cluster = new RedisTestCluster(nodes.slice(0, mastersTotal), nodes.slice(mastersTotal))
    await cluster.#form(ports[1]!)
    return cluster
  }

  private constructor(masters: readonly RedisClusterNode[], replicas: readonly RedisClusterNode[]) {
    this.masters = masters
    this.replicas = replicas
  }

  get addresses(): string[] {
    return this.masters.map(({ server }) => `127.0.0.1:${server.port}`)
  }

  /** Returns the index of the master that owned the key's slot at the start. */
  async masterOf(key: string): Promise<number> {
    const slot = await this.slotOf(key)
    return Math.floor((slot * this.masters.length) / slotsTotal)
  }

  async slotOf(key: string): Promise<number> {
    return await this.replicas[0]!.client.cluster('KEYSLOT', key)
  }

  async numberOfScripts({ client }: RedisClusterNode): Promise<number> {
    return Number(/number_of_cached_scripts:(\d+)/.exec(await client.info('memory'))?.[1])
  }

  /** The replica takes over in agreement with the master, so nothing is lost. */
  async failOver(index: number): Promise<void> {
    await this.replicas[index]!.client.call('CLUSTER', 'FAILOVER')
    await until([this.replicas[index]!], isMaster)
  }

  /** The replica takes over by itself, with the data it has. */
  async takeOver(index: number): Promise<void> {
    await this.replicas[index]!.client.call('CLUSTER', 'FAILOVER', 'TAKEOVER')
    await until([this.replicas[index]!], isMaster)
  }

  /** Disconnects the replica: it loses its link, and cannot log in for another one. */
  async cutOffReplica(index: number): Promise<void> {
    await this.replicas[index]!.client.config('SET', 'masterauth', 'wrong')
    await this.masters[index]!.client.client('KILL', 'TYPE', 'replica')
    await until([this.replicas[index]!], async ({ client }) =>
      (await client.info('replication')).includes('master_link_status:down'),
    )
  }

  /** Begins to move the slot of the key between masters, as resharding does. */
  async beginMove(key: string, fromIndex: number, toIndex: number) {
    const slot = await this.slotOf(key)
    const from = this.masters[fromIndex]!
    const to = this.masters[toIndex]!
    await to.client.cluster('SETSLOT', slot, 'IMPORTING', from.id)
    await from.client.cluster('SETSLOT', slot, 'MIGRATING', to.id)
    const some = async (count: number): Promise<number> => {
      const keys = (await from.client.callBuffer(
        'CLUSTER',
        'GETKEYSINSLOT',
        slot,
        count,
      )) as Buffer[]
      for (const each of keys) {
        await from.client.call('MIGRATE', '127.0.0.1', to.server.port, each, 0, 5_000)
      }
      return keys.length
    }
    return {
      some,
      finish: async () => {
        while ((await some(1_000)) > 0);
        for (const { client } of [to, from]) await client.cluster('SETSLOT', slot, 'NODE', to.id)
      },
    }
  }

  async stop(): Promise<void> {
    for (const { client, server } of [...this.masters, ...this.replicas]) {
      client.disconnect()
      await server.kill()
    }
  }

  async #form(firstBusPort: number): Promise<void> {
    const [first] = this.masters as [RedisClusterNode]
    for (const [index, { client }] of this.masters.entries()) {
      const from = Math.ceil((index * slotsTotal) / this.masters.length)
      const to = Math.ceil(((index + 1) * slotsTotal) / this.masters.length) - 1
      await client.call('CLUSTER', 'ADDSLOTSRANGE', from, to)
    }
    const all = [...this.masters, ...this.replicas]
    for (const { client } of all.slice(1)) {
      await client.call('CLUSTER', 'MEET', '127.0.0.1', first.server.port, firstBusPort)
    }
    await until(
      all,
      async ({ client }) =>
        ((await client.cluster('NODES')) as string).split('\n').length > all.length,
    )
    for (const [index, { client }] of this.replicas.entries()) {
      await client.cluster('REPLICATE', this.masters[index]!.id)
    }
    await until(this.replicas, async ({ client }) =>
      (await client.info('replication')).includes('master_link_status:up'),
    )
    await until(all, async ({ client }) =>
      (await client.cluster('INFO')).includes('cluster_state:ok'),
    )
  }
}

async function isMaster({ client }: RedisClusterNode): Promise<boolean> {
  return (await client.info('replication')).includes('role:master')
}

async function startNode(folder: string, port: number, busPort: number): Promise<RedisClusterNode> {
  await mkdir(folder, { recursive: true })
  const settings = {
    'cluster-enabled': 'yes',
    'cluster-port': `${busPort}`,
    'cluster-node-timeout': '1000',
    'repl-diskless-sync-delay': '0',
  }
  const server = await RedisServerProcess.start({ folder, port, settings })
  const client = new Redis(server.url)
  client.on('error', () => undefined)
  return { id: await client.cluster('MYID'), server, client }
}

async function until(
  nodes: readonly RedisClusterNode[],
  holds: (node: RedisClusterNode) => Promise<boolean>,
): Promise<void> {
  for (let waitedMs = 0; waitedMs < formsWithinMs; waitedMs += 50) {
    const answers = await Promise.all(nodes.map(holds))
    if (answers.every(Boolean)) return
    await sleep(50)
  }
  throw new Error('The cluster does not form')
}
