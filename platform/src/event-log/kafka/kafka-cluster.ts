import { firstAnswers } from './first-answers.ts'
import type { KafkajsBroker } from './kafkajs-internals.ts'
import { closedError, KafkaNode, type KafkaConnection } from './kafka-node.ts'
import {
  metadataRequest,
  type Metadata,
  type PartitionState,
  type TopicPartition,
  type WireRequest,
} from './wire/requests.ts'

/** Without an answer for this long, the next broker is asked as well. */
const patienceMs = 500

/**
 * The brokers for one kind of traffic, with separate connections. A broker answers the requests of a connection one after the
 * other, so requests that wait must not share a connection with requests that must not wait.
 */
export class KafkaCluster {
  readonly #connection: KafkaConnection
  readonly #topics: readonly string[]
  /** Connections by address. */
  readonly #nodes = new Map<string, KafkaNode>()
  #addresses: ReadonlyMap<number, string> = new Map()
  #states: ReadonlyMap<string, PartitionState> = new Map()
  #controllerId = -1
  #answering: string | undefined
  readonly #coordinators = new Map<string, number>()
  #refreshing: Promise<void> | undefined
  #isClosed = false

  constructor(connection: KafkaConnection, topics: readonly string[]) {
    this.#connection = connection
    this.#topics = topics
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Returns the state of a partition as of the last refresh. Undefined if it does not exist. */
  state({ topic, partition }: TopicPartition): PartitionState | undefined {
    return this.#states.get(`${topic}/${partition}`)
  }

  get states(): readonly PartitionState[] {
    return [...this.#states.values()]
  }

  /** Sends a request to a broker. Rejects if the broker cannot be reached or does not answer in time. */
  async send<Response>(nodeId: number, request: WireRequest<Response>): Promise<Response> {
    return this.#node(nodeId).send(request)
  }

  /** Updates the leaders of all partitions. Concurrent calls share one request. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#askAnyBroker((node) => node.send(metadataRequest(this.#topics)))
      .then((metadata) => this.#learn(metadata))
      .finally(() => (this.#refreshing = undefined))
    return this.#refreshing
  }

  /** Returns any broker that can be reached. */
  anyBroker(): Promise<KafkajsBroker> {
    return this.#askAnyBroker((node) => node.broker())
  }

  /** Returns all brokers by id, as of the last refresh. Rejects if one cannot be reached. */
  async allBrokers(): Promise<ReadonlyMap<number, KafkajsBroker>> {
    const ids = [...this.#addresses.keys()]
    return new Map(
      await Promise.all(ids.map(async (id) => [id, await this.#node(id).broker()] as const)),
    )
  }

  /** Returns the controller, which creates topics, as of the last refresh. */
  async controller(): Promise<KafkajsBroker> {
    return this.#node(this.#controllerId).broker()
  }

  /** Returns the coordinator of the group, which stores its members and positions. The result is cached. */
  async coordinatorOf(groupId: string): Promise<KafkajsBroker> {
    let nodeId = this.#coordinators.get(groupId)
    if (nodeId === undefined) {
      const broker = await this.anyBroker()
      const { coordinator } = await broker.findGroupCoordinator({ groupId, coordinatorType: 0 })
      nodeId = coordinator.nodeId
      if (!this.#addresses.has(nodeId)) await this.refresh()
      this.#coordinators.set(groupId, nodeId)
    }
    return this.#node(nodeId).broker()
  }

  /** Call this when a request to the coordinator fails, because another broker may be the coordinator now. */
  forgetCoordinator(groupId: string): void {
    this.#coordinators.delete(groupId)
  }

  /** Closes all connections. Open requests are rejected. */
  close(): void {
    this.#isClosed = true
    for (const node of this.#nodes.values()) node.close()
  }

  #learn({ brokers, controllerId, partitions }: Metadata): void {
    this.#addresses = new Map(brokers.map(({ nodeId, address }) => [nodeId, address]))
    this.#controllerId = controllerId
    this.#states = new Map(partitions.map((each) => [`${each.topic}/${each.partition}`, each]))
  }

  /**
   * Asks the broker that answered last, then the other known brokers, then the configured ones. A hanging broker delays a call only
   * briefly, and not every call.
   */
  async #askAnyBroker<Answer>(ask: (node: KafkaNode) => Promise<Answer>): Promise<Answer> {
    const known = [...this.#addresses.values(), ...this.#connection.brokers]
    const attempts = [...new Set([this.#answering ?? known[0]!, ...known])].map(
      (address) => async () => {
        const answer = await ask(this.#nodeAt(address))
        this.#answering = address
        return answer
      },
    )
    const [answer] = await firstAnswers(attempts, 1, patienceMs)
    return answer!
  }

  #node(nodeId: number): KafkaNode {
    const address = this.#addresses.get(nodeId)
    if (address === undefined) throw new Error(`There is no broker ${nodeId}.`)
    return this.#nodeAt(address)
  }

  #nodeAt(address: string): KafkaNode {
    if (this.#isClosed) throw closedError()
    let node = this.#nodes.get(address)
    if (node === undefined) {
      node = new KafkaNode(this.#connection, address)
      this.#nodes.set(address, node)
    }
    return node
  }
}
