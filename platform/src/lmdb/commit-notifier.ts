import { createHash, randomBytes } from 'node:crypto'
import { unlinkSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WakeUps } from '../waiting/wake-ups.ts'

/*
 * Notifies other processes of commits. Every process sees committed data at once, but LMDB does not notify readers. So the writing
 * process listens on a Unix socket and sends one byte per commit to each connected reader. The byte is the channel (for example,
 * the topic that has grown). A byte is only a hint and may be lost: a waiting reader checks again after `recheckMs` at the latest.
 */

/** Sends notifications. Used by the writing process. */
export class CommitNotifier {
  readonly path: string
  readonly #server: Server
  readonly #listeners = new Set<Socket>()

  private constructor(path: string, server: Server) {
    this.path = path
    this.#server = server
    server.on('connection', (socket) => this.#add(socket))
    server.unref()
  }

  /** Listens on a socket in the folder, or in the system's temporary folder if that is not possible. */
  static async open(folder: string): Promise<CommitNotifier> {
    const token = randomBytes(8).toString('hex')
    const inFolder = join(folder, `bell-${token}.sock`)
    const elsewhere = createHash('sha256').update(inFolder).digest('hex').slice(0, 24)
    const inTemporary = join(tmpdir(), `tollgate-bell-${elsewhere}.sock`)
    if (Buffer.byteLength(inFolder) <= socketPathBytesMax) {
      const server = await listen(inFolder).catch(() => undefined)
      if (server !== undefined) return new CommitNotifier(inFolder, server)
    }
    return new CommitNotifier(inTemporary, await listen(inTemporary))
  }

  notify(channel: number): void {
    if (this.#listeners.size === 0) return
    const byte = Buffer.of(channel & 255)
    for (const socket of this.#listeners) {
      // A reader with this many unread bytes already has a notification to read, so this one can be dropped.
      if (socket.writableLength < unsentBytesMax) socket.write(byte)
    }
  }

  async close(): Promise<void> {
    for (const socket of this.#listeners) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #add(socket: Socket): void {
    this.#listeners.add(socket)
    socket.unref()
    socket.on('error', () => socket.destroy())
    socket.on('close', () => this.#listeners.delete(socket))
    socket.resume()
  }
}

/** Receives notifications. Used by the reading processes. */
export class CommitListener {
  readonly #findPath: () => string | undefined
  readonly #wakeUps = new Map<number, WakeUps>()
  #socket: Socket | undefined
  #isConnected = false
  #isClosed = false
  #connectAfter = 0

  /** `findPath` returns the socket of the current writer, which may be a different one each time. */
  constructor(findPath: () => string | undefined) {
    this.#findPath = findPath
  }

  async wait(channel: number, timeoutMs: number): Promise<void> {
    this.#connect()
    await this.#channel(channel).wait(Math.min(timeoutMs, this.#isConnected ? recheckMs : pollMs))
  }

  close(): void {
    this.#isClosed = true
    this.#socket?.destroy()
    this.#wakeAll()
  }

  #connect(): void {
    if (this.#isClosed || this.#socket !== undefined || performance.now() < this.#connectAfter)
      return
    const path = this.#findPath()
    this.#connectAfter = performance.now() + reconnectMs
    if (path === undefined) return
    const socket = connect(path)
    this.#socket = socket
    socket.unref()
    socket.on('connect', () => {
      this.#isConnected = true
      this.#wakeAll()
    })
    socket.on('data', (bytes) => {
      for (const channel of new Set(bytes)) this.#channel(channel).wake()
    })
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      this.#socket = undefined
      this.#isConnected = false
      this.#wakeAll()
    })
  }

  #channel(channel: number): WakeUps {
    let wakeUps = this.#wakeUps.get(channel & 255)
    if (wakeUps === undefined) {
      wakeUps = new WakeUps()
      this.#wakeUps.set(channel & 255, wakeUps)
    }
    return wakeUps
  }

  #wakeAll(): void {
    for (const wakeUps of this.#wakeUps.values()) wakeUps.wake()
  }
}

/** Returns whether a process listens on the socket. A hanging process counts as well, because the kernel accepts the connection. */
export function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.on('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}

/** Removes the socket file of a process that was killed. */
export function removeSocketFile(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // The file was already removed.
  }
}

function listen(path: string): Promise<Server> {
  const server = createServer()
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, () => resolve(server))
  })
}

/** The shortest limit of a socket path on any system is 104 bytes including the final zero. */
const socketPathBytesMax = 100
const unsentBytesMax = 1024
const recheckMs = 100
const pollMs = 25
const reconnectMs = 100
