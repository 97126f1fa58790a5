import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { EventLog } from '../src/event-log/event-log.ts'
import { openFileEventLog } from '../src/event-log/files/file-event-log.ts'
import { openNoteLease, type NoteLease } from '../src/event-log/note-lease/note-lease.ts'
import type { HotState } from '../src/hot-state/hot-state.ts'
import { openRedisHotState } from '../src/hot-state/redis/redis-hot-state.ts'
import { createLogger } from '../src/observability/logger.ts'
import { withAcknowledgedHeads } from '../src/event-log/with-acknowledged-heads.ts'
import { freePort } from '../src/testing/free-ports.ts'
import { RedisServerProcess } from '../src/testing/redis-server.ts'

const topic = 'usage'
const controlTopic = 'control'
const partitions = 2
export const fleetTopics = { [topic]: partitions, [controlTopic]: 1 }
const logger = createLogger('test', 'silent')

/** An append-only file, of which a killed server loses up to a second. */
const settings = { appendonly: 'yes', appendfsync: 'everysec', 'repl-diskless-sync-delay': '0' }

export type Member = {
  readonly lease: NoteLease
  readonly log: EventLog
  /** The server that the connection of this process leads to. */
  server: number
}

/** Processes with a note lease each, which share a log and have connections to either of two Redis servers. */
export class Fleet {
  readonly servers: RedisServerProcess[]
  readonly #folder: string
  readonly #members: readonly Member[]
  readonly #acknowledged = Array.from({ length: partitions }, () => 0)
  readonly #states: readonly HotState[]
  readonly #log: EventLog
  readonly #loops: Promise<void>[] = []
  #isEnded = false
  checks = 0
  readonly missed: string[] = []

  static async start(folder: string): Promise<Fleet> {
    const servers = [await startServer(join(folder, 'a')), await startServer(join(folder, 'b'))]
    await servers[1]!.call('REPLICAOF', '127.0.0.1', `${servers[0]!.port}`)
    const log = await openFileEventLog({
      logFolder: join(folder, 'log'),
      groupsFolder: join(folder, 'groups'),
      role: 'writer',
      topics: fleetTopics,
    })
    const states = await Promise.all(
      servers.map(({ url }) => openRedisHotState({ servers: { url }, callTimeoutMs: 300 })),
    )
    const members: Member[] = []
    for (let number = 0; number < 4; number++) members.push(await openMember(log, states))
    return new Fleet(folder, servers, members, states, log)
  }

  private constructor(
    folder: string,
    servers: RedisServerProcess[],
    members: readonly Member[],
    states: readonly HotState[],
    log: EventLog,
  ) {
    this.#folder = folder
    this.servers = servers
    this.#members = members
    this.#states = states
    this.#log = log
    for (const [partition, member] of members.slice(0, partitions).entries()) {
      this.#loops.push(this.#append(member, partition))
    }
    for (const member of members.slice(partitions)) {
      for (let partition = 0; partition < partitions; partition++) {
        this.#loops.push(this.#check(member, partition))
      }
    }
  }

  get trusted(): number {
    return this.#members.reduce((sum, { lease }) => sum + lease.counts.trusted, 0)
  }

  get acknowledged(): number {
    return this.#acknowledged.reduce((sum, head) => sum + head, 0)
  }

  /** Leads the connections of all processes to the server, each after another time of at most `withinMs`. */
  async reconnect(server: number, withinMs: number, members = [0, 1, 2, 3]): Promise<void> {
    await Promise.all(
      members.map(async (each) => {
        await sleep(Math.random() * withinMs)
        this.#members[each]!.server = server
      }),
    )
  }

  /** Kills the home, and starts it with the file as it is on disk. */
  async restartHome(): Promise<void> {
    const [home] = this.servers
    await home!.kill()
    const { port } = home!
    this.servers[0] = await RedisServerProcess.start({
      folder: join(this.#folder, 'a'),
      port,
      settings,
    })
  }

  async end(): Promise<void> {
    this.#isEnded = true
    await Promise.all(this.#loops)
    await Promise.all(this.#members.map(({ lease }) => lease.close()))
    await Promise.all(this.#states.map((state) => state.close()))
    await Promise.all(this.servers.map((server) => server.kill()))
    await this.#log.close()
  }

  #append({ log }: Member, partition: number): Promise<void> {
    return appendRecords(log, partition, this.#acknowledged, () => this.#isEnded)
  }

  #check({ log }: Member, partition: number): Promise<void> {
    const isEnded = (): boolean => this.#isEnded
    return checkHeads(log, partition, this.#acknowledged, isEnded, (missed) => {
      this.checks += 1
      if (missed !== undefined) this.missed.push(missed)
    })
  }
}

/** Appends records one after the other to a partition that no other process uses, whose notes would cover for missing ones. */
export async function appendRecords(
  log: EventLog,
  partition: number,
  acknowledged: number[],
  isEnded: () => boolean,
): Promise<void> {
  while (!isEnded()) {
    const offsets = await log
      .appendAll(topic, [{ partition, value: Buffer.from('a') }], 1)
      .catch(() => [])
    for (const offset of offsets) {
      acknowledged[partition] = Math.max(offset + 1, acknowledged[partition] ?? 0)
    }
    await sleep(1)
  }
}

/** Checks heads one after the other. Calls `onChecked` after each, with what it lacks of the records that were acknowledged before. */
export async function checkHeads(
  log: EventLog,
  partition: number,
  acknowledged: readonly number[],
  isEnded: () => boolean,
  onChecked: (missed: string | undefined) => void,
): Promise<void> {
  while (!isEnded()) {
    const required = acknowledged[partition] ?? 0
    const head = await log.head(topic, partition)
    onChecked(head < required ? `${head} of ${required} in ${partition}` : undefined)
    await sleep(0)
  }
}

/** Opens the note lease of one process, which has a connection to each server and uses one of them. */
export async function openMember(log: EventLog, states: readonly HotState[]): Promise<Member> {
  const member = { server: 0 }
  // Each call goes to the server that the connection leads to at that moment.
  const heads = led(() => states[member.server]!.acknowledgedHeads!)
  const lease = await openNoteLease({
    control: slowly(log),
    controlTopic,
    log,
    topics: [topic],
    heads,
    homeNotes: led(() => states[member.server]!.acknowledgedHeads!.home!),
    readsNotes: true,
    acknowledgeWithinMs: 10_000,
    logger,
  })
  return Object.assign(member, { lease, log: withAcknowledgedHeads(log, heads, lease) })
}

/** Answers about the control topic, and its records, come late at random. */
function slowly(log: EventLog): Pick<EventLog, 'head' | 'read' | 'append' | 'close'> {
  const delay = (): Promise<void> => sleep(Math.random() < 0.05 ? 400 * Math.random() : 0)
  return {
    head: async (...at) => {
      await delay()
      const head = await log.head(...at)
      await delay()
      return head
    },
    read: (...from) => log.read(...from),
    append: async (...record) => {
      await delay()
      await log.append(...record)
      await delay()
    },
    close: () => Promise.resolve(),
  }
}

/** Leads every call to the part that is current at the time of the call. */
function led<Part extends object>(current: () => Part): Part {
  return new Proxy({} as Part, {
    get: (_, name) => {
      const part = current()
      const value: unknown = Reflect.get(part, name)
      return typeof value === 'function' ? (value.bind(part) as unknown) : value
    },
  })
}

export async function startServer(folder: string): Promise<RedisServerProcess> {
  await mkdir(folder)
  return RedisServerProcess.start({ folder, port: await freePort(), settings })
}
