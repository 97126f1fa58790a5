import { connect, type Socket } from 'node:net'
import type { Behaviour, CrowdPlan } from './behaviours.ts'

export type CrowdStats = {
  readonly open: number
  /** Largest number of connections that were open at a time. */
  readonly mostOpen: number
  /** Number of connections opened so far. Each connection that ends is replaced. */
  readonly opened: number
  readonly longestHeldMs: number
  readonly sentBytes: number
  /** Number of first answers by status. */
  readonly statuses: Readonly<Record<string, number>>
}

type Held = {
  readonly behaviour: Behaviour
  readonly openedMs: number
  /** Number that decides in which tick the connection sends, so that connections send at different times. */
  readonly turn: number
}

const tickMs = 10
const ticksPerSecond = 1000 / tickMs
/** Maximum connections that a crowd opens per tick until all lasting ones have been open together, and afterwards. */
const opensPerTickMax = { before: 20, after: 2 }

/**
 * Keeps connections open. Each that ends is replaced by one that behaves in the same way. Those that the server cuts off are opened
 * once all lasting ones have been open together: on few cores, their replacements would keep the others from being opened.
 */
export class CrowdConnections {
  /** Open connections, oldest first. */
  readonly #held = new Map<Socket, Held>()
  /** Behaviours of the connections to open, the next one last. */
  readonly #missing: Behaviour[]
  readonly #further: readonly Behaviour[]
  readonly #target: { readonly host: string; readonly port: number }
  readonly #size: number
  readonly #ticker: NodeJS.Timeout
  readonly #statuses: Record<string, number> = {}
  #mostOpen = 0
  #opened = 0
  #longestHeldMs = 0
  #sentBytes = 0
  #tick = 0
  #hasFurther = false

  constructor(target: { readonly host: string; readonly port: number }, plan: CrowdPlan) {
    this.#target = target
    this.#size = plan.lasting.length
    this.#missing = [...plan.lasting]
    this.#further = plan.further
    this.#ticker = setInterval(() => this.#onTick(), tickMs)
  }

  stats(): CrowdStats {
    const [oldest] = this.#held.values()
    if (oldest) this.#updateLongestHeld(oldest.openedMs)
    return {
      open: this.#held.size,
      mostOpen: this.#mostOpen,
      opened: this.#opened,
      longestHeldMs: Math.round(this.#longestHeldMs),
      sentBytes: this.#sentBytes,
      statuses: this.#statuses,
    }
  }

  end(): void {
    clearInterval(this.#ticker)
    for (const socket of this.#held.keys()) socket.resetAndDestroy()
  }

  /** Opens missing connections, and sends on those whose turn it is. */
  #onTick(): void {
    const { before, after } = opensPerTickMax
    for (let left = this.#hasFurther ? after : before; left > 0; left--) {
      const behaviour = this.#missing.pop()
      if (behaviour === undefined) break
      this.#open(behaviour)
    }
    this.#tick++
    for (const [socket, { behaviour, turn }] of this.#held) {
      const { repeated } = behaviour
      if (repeated === undefined || repeated.everySeconds === 0) continue
      if ((this.#tick + turn) % (repeated.everySeconds * ticksPerSecond) !== 0) continue
      // Bytes that the server does not accept must not accumulate in this process.
      if (!socket.writableNeedDrain) this.#send(socket, repeated.bytes)
    }
  }

  #open(behaviour: Behaviour): void {
    const turn = this.#opened++
    const socket = connect(this.#target)
    socket.on('connect', () => {
      this.#held.set(socket, { behaviour, openedMs: performance.now(), turn })
      this.#mostOpen = Math.max(this.#mostOpen, this.#held.size)
      this.#begin(socket, behaviour)
      if (this.#mostOpen >= this.#size) this.#addFurther()
    })
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      const held = this.#held.get(socket)
      if (held !== undefined) this.#updateLongestHeld(held.openedMs)
      this.#held.delete(socket)
      this.#missing.unshift(behaviour)
    })
  }

  #addFurther(): void {
    if (this.#hasFurther) return
    this.#hasFurther = true
    this.#missing.unshift(...this.#further)
  }

  #updateLongestHeld(openedMs: number): void {
    this.#longestHeldMs = Math.max(this.#longestHeldMs, performance.now() - openedMs)
  }

  #begin(socket: Socket, behaviour: Behaviour): void {
    const { first, ignoresAnswers } = behaviour
    if (ignoresAnswers === true) socket.pause()
    else socket.on('data', (bytes: Buffer) => this.#countAnswer(bytes))
    this.#send(socket, first)
    this.#flood(socket, behaviour)
  }

  #flood(socket: Socket, { repeated }: Behaviour): void {
    if (repeated?.everySeconds !== 0) return
    const send = (): void => {
      while (socket.writable && this.#send(socket, repeated.bytes));
    }
    socket.on('drain', send)
    send()
  }

  #send(socket: Socket, bytes: Buffer): boolean {
    this.#sentBytes += bytes.length
    return socket.write(bytes)
  }

  #countAnswer(bytes: Buffer): void {
    const status = /^HTTP\/1\.1 (\d{3})/.exec(bytes.toString('latin1', 0, 16))?.[1]
    if (status !== undefined) this.#statuses[status] = (this.#statuses[status] ?? 0) + 1
  }
}
