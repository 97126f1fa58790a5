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

/** After so long without an answer the next broker is asked as well. */
const patienceMs = 500

/**
 * The brokers as one kind of traffic sees them, over connections of its own: a broker answers the requests of one
 * connection one after the other, so nothing that waits may share one with something that must not.
 */
export class KafkaCluster {
  readonly #connection: KafkaConnection
  readonly #topics: readonly string[]
  /** By address. */
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

  /** As of the last refresh. Undefined for a partition that the topic does not have. */
  state({ topic, partition }: TopicPartition): PartitionState | undefined {
    return this.#states.get(`${topic}/${partition}`)
  }

  get states(): readonly PartitionState[] {
    return [...this.#states.values()]
  }

  /** Sends to the broker of that id. Rejects when it cannot be reached or does not answer in time. */
  async send<Response>(nodeId: number, request: WireRequest<Response>): Promise<Response> {
    return this.#node(nodeId).send(request)
  }

  /** Learns who leads which partition. Those who ask while it is under way share the answer. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#askAnyone((node) => node.send(metadataRequest(this.#topics)))
      .then((metadata) => this.#learn(metadata))
      .finally(() => (this.#refreshing = undefined))
    return this.#refreshing
  }

  /** Any broker that can be reached. */
  anyBroker(): Promise<KafkajsBroker> {
    return this.#askAnyone((node) => node.broker())
  }

  /** Each broker by its id, as of the last refresh. Rejects when one of them cannot be reached. */
  async allBrokers(): Promise<ReadonlyMap<number, KafkajsBroker>> {
    const ids = [...this.#addresses.keys()]
    return new Map(
      await Promise.all(ids.map(async (id) => [id, await this.#node(id).broker()] as const)),
    )
  }

  /** The broker that makes topics, as of the last refresh. */
  async controller(): Promise<KafkajsBroker> {
    return this.#node(this.#controllerId).broker()
  }

  /** The broker that keeps the group's members and positions, as last heard. */
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

  /** To be called when the coordinator did not do as asked: it may be another broker by now. */
  forgetCoordinator(groupId: string): void {
    this.#coordinators.delete(groupId)
  }

  /** Whatever is under way is rejected. */
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
   * The one that answered last, the others that are known, and those that were configured in case none of these is left.
   * One that hangs costs a moment, but not again every time.
   */
  async #askAnyone<Answer>(ask: (node: KafkaNode) => Promise<Answer>): Promise<Answer> {
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
