import { connect, type Socket } from 'node:net'
import type { Behaviour } from './behaviours.ts'

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

const tickMs = 10
const ticksPerSecond = 1000 / tickMs
/** Maximum connections that a crowd opens per tick, even if all of them are refused immediately. */
const opensPerTickMax = 20

/**
 * Keeps a number of connections open. Each follows one of the behaviours, and each that ends is replaced. Floods begin once all
 * connections have been open together: on few cores, earlier floods would keep the others from being opened.
 */
export class CrowdConnections {
  /** Open connections, oldest first. */
  readonly #held = new Map<Socket, { readonly behaviour: Behaviour; readonly openedMs: number }>()
  readonly #behaviours: readonly Behaviour[]
  readonly #target: { readonly host: string; readonly port: number }
  readonly #size: number
  readonly #ticker: NodeJS.Timeout
  readonly #statuses: Record<string, number> = {}
  #connecting = 0
  #mostOpen = 0
  #opened = 0
  #longestHeldMs = 0
  #sentBytes = 0
  #tick = 0
  #isFlooding = false

  constructor(
    target: { readonly host: string; readonly port: number },
    size: number,
    behaviours: readonly Behaviour[],
  ) {
    this.#target = target
    this.#size = size
    this.#behaviours = behaviours
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

  /** Sends on each steady connection once per second, on a fraction of them per tick. */
  #onTick(): void {
    const missing = this.#size - this.#held.size - this.#connecting
    for (let left = Math.min(missing, opensPerTickMax); left > 0; left--) this.#open()
    const turn = this.#tick++ % ticksPerSecond
    let index = 0
    for (const [socket, { behaviour }] of this.#held) {
      const { repeated } = behaviour
      if (index++ % ticksPerSecond !== turn || repeated?.pace !== 'steady') continue
      // Bytes that the server does not accept must not accumulate in this process.
      if (!socket.writableNeedDrain) this.#send(socket, repeated.bytes)
    }
  }

  #open(): void {
    const behaviour = this.#behaviours[this.#opened++ % this.#behaviours.length]!
    const socket = connect(this.#target)
    this.#connecting++
    socket.on('connect', () => {
      this.#connecting--
      this.#held.set(socket, { behaviour, openedMs: performance.now() })
      this.#mostOpen = Math.max(this.#mostOpen, this.#held.size)
      this.#begin(socket, behaviour)
      if (this.#isFlooding) this.#flood(socket, behaviour)
      else if (this.#mostOpen >= this.#size) this.#beginFloods()
    })
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      const held = this.#held.get(socket)
      if (held === undefined) this.#connecting--
      else this.#updateLongestHeld(held.openedMs)
      this.#held.delete(socket)
    })
  }

  #updateLongestHeld(openedMs: number): void {
    this.#longestHeldMs = Math.max(this.#longestHeldMs, performance.now() - openedMs)
  }

  #begin(socket: Socket, { first, ignoresAnswers }: Behaviour): void {
    if (ignoresAnswers === true) socket.pause()
    else socket.on('data', (bytes: Buffer) => this.#countAnswer(bytes))
    this.#send(socket, first)
  }

  #beginFloods(): void {
    this.#isFlooding = true
    for (const [socket, { behaviour }] of this.#held) this.#flood(socket, behaviour)
  }

  #flood(socket: Socket, { repeated }: Behaviour): void {
    if (repeated?.pace !== 'flood') return
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
