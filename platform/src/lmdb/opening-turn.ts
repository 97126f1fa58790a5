import { randomBytes } from 'node:crypto'
import type { Server, Socket } from 'node:net'
import { CommitGate } from './commit-gate.ts'
import { TurnSockets } from './turn-sockets.ts'

/*
 * When lmdb-js opens an environment, it reads the number of the newest transaction and stores it a moment later in memory that all
 * processes share. If another process commits in between, that number goes back: readers no longer see the commit, and the next
 * writer overwrites it (LMDB ITS#9496, fixed there in 2021; lmdb-js has a copy without the fix). So processes open an environment
 * one after another, and no process commits meanwhile.
 *
 * Every process that may open or write listens on a socket in the folder before it lists the sockets of the others. So of two
 * processes at least one asks the other. A process that is asked answers when it holds its commits, and holds them until the
 * connection closes; the kernel closes it even if the other process is killed. Of two processes that want to open, the one with the
 * smaller token is first, so no two wait for each other. The other one then asks those that came and opened while it waited.
 */

export type OpeningTurnOptions = {
  readonly folder: string
  /** Milliseconds that another process may take to finish its commits. */
  readonly answerWithinMs: number
}

/** Another process that has the environment open did not answer in time. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError'
}

export class OpeningTurn {
  /** Commits of this process must run in this gate from `end` on. */
  readonly gate = new CommitGate()
  readonly #token = randomBytes(8).toString('hex')
  readonly #sockets: TurnSockets
  #server: Server | undefined
  #phase: 'waiting' | 'opening' | 'open' = 'waiting'
  /** Connections of processes that open while this one holds its commits. */
  readonly #held = new Set<Socket>()
  #onReleased: (() => void) | undefined
  /** Connections of processes that open after this one. */
  #deferred: Socket[] = []
  /** Own connections to the processes that hold their commits. */
  #asked: Socket[] = []

  private constructor(folder: string) {
    this.#sockets = new TurnSockets(folder)
  }

  /** Resolves when this process may open the environment. Rejects with a NoAnswerError. */
  static async take({ folder, answerWithinMs }: OpeningTurnOptions): Promise<OpeningTurn> {
    const turn = new OpeningTurn(folder)
    try {
      await turn.#take(answerWithinMs)
      return turn
    } catch (error) {
      await turn.leave()
      throw error
    }
  }

  /** Lets the next process open the environment, and the others commit again. */
  end(): void {
    this.#phase = 'open'
    for (const socket of this.#asked.splice(0)) socket.destroy()
    for (const socket of this.#deferred.splice(0)) this.#grant(socket)
  }

  /** Call it when this process cannot commit any more. */
  async leave(): Promise<void> {
    const server = this.#server
    if (server === undefined) return
    this.#server = undefined
    const closed = new Promise((resolve) => server.close(resolve))
    for (const socket of [...this.#asked, ...this.#deferred, ...this.#held]) socket.destroy()
    this.#sockets.close(this.#token)
    await closed
  }

  async #take(answerWithinMs: number): Promise<void> {
    this.#server = await this.#sockets.listen(this.#token, (socket) => this.#accept(socket))
    const asked = new Set([this.#token])
    // A process that listens after the sockets were listed may open first and then commit, so they are listed again afterwards.
    for (;;) {
      const unasked = this.#sockets.list().filter((token) => !asked.has(token))
      if (unasked.length === 0 && this.#held.size === 0) break
      for (const token of unasked) asked.add(token)
      await Promise.all(unasked.map((token) => this.#ask(token, answerWithinMs)))
      if (this.#held.size > 0) await new Promise<void>((resolve) => (this.#onReleased = resolve))
    }
    this.#phase = 'opening'
    // From now on others may need this process, but it does not need them.
    this.#server.unref()
  }

  /** Resolves when another process holds its commits, or no longer exists. */
  async #ask(token: string, answerWithinMs: number): Promise<void> {
    const socket = this.#sockets.connect(token)
    this.#asked.push(socket)
    socket.write(this.#token)
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new NoAnswerError(`Another process did not answer within ${answerWithinMs} ms.`))
      }, answerWithinMs)
      const settle = (act: () => void) => () => {
        clearTimeout(timer)
        act()
      }
      socket.once('data', settle(resolve))
      socket.once('close', settle(resolve))
      socket.once('error', (error: NodeJS.ErrnoException) => {
        const isGone = goneCodes.includes(error.code ?? '')
        if (isGone) this.#sockets.removeOld(token)
        settle(isGone ? resolve : () => reject(error))()
      })
    })
  }

  #accept(socket: Socket): void {
    socket.on('error', () => socket.destroy())
    let token = ''
    socket.on('data', (bytes) => {
      token += bytes.toString('latin1')
      if (token.length < this.#token.length) return
      socket.removeAllListeners('data').resume()
      const isFirst = this.#phase === 'waiting' && token < this.#token
      if (this.#phase === 'open' || isFirst) this.#grant(socket)
      else this.#deferred.push(socket)
    })
  }

  #grant(socket: Socket): void {
    if (socket.destroyed) return
    this.#held.add(socket)
    socket.on('close', () => {
      this.#held.delete(socket)
      this.gate.release()
      this.#onReleased?.()
    })
    void this.gate.hold().then(() => {
      if (!socket.destroyed) socket.write(heldAnswer)
    })
  }
}

const heldAnswer = 'h'
/** Errors of a connection to a process that has ended. */
const goneCodes = ['ECONNREFUSED', 'ENOENT', 'ECONNRESET', 'EPIPE']
