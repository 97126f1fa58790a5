import { createHash, randomBytes } from 'node:crypto'
import { unlinkSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WakeUps } from '../waiting/wake-ups.ts'

/*
 * What is committed shows to every process at once, but nobody is told. So the process that writes listens on a Unix socket
 * and sends one byte per commit to each process that reads; the byte is the channel (which topic has grown). A byte
 * is a hint and may be lost with its socket: whoever waits looks again after recheckMs at the latest.
 */

/** The writing side. */
export class Doorbell {
  readonly path: string
  readonly #server: Server
  readonly #listeners = new Set<Socket>()

  private constructor(path: string, server: Server) {
    this.path = path
    this.#server = server
    server.on('connection', (socket) => this.#add(socket))
    server.unref()
  }

  /** Listens in the folder, or under the system's folder for temporary files where that cannot hold a socket. */
  static async open(folder: string): Promise<Doorbell> {
    const token = randomBytes(8).toString('hex')
    const inFolder = join(folder, `bell-${token}.sock`)
    const elsewhere = createHash('sha256').update(inFolder).digest('hex').slice(0, 24)
    const inTemporary = join(tmpdir(), `tollgate-bell-${elsewhere}.sock`)
    if (Buffer.byteLength(inFolder) <= socketPathBytesMax) {
      const server = await listen(inFolder).catch(() => undefined)
      if (server !== undefined) return new Doorbell(inFolder, server)
    }
    return new Doorbell(inTemporary, await listen(inTemporary))
  }

  ring(channel: number): void {
    if (this.#listeners.size === 0) return
    const byte = Buffer.of(channel & 255)
    for (const socket of this.#listeners) {
      // A reader that lags this far will find everything when it looks at what is already on its way.
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

/** The reading side, in another process than the bell, or in a process where nobody rings. */
export class DoorbellListener {
  readonly #findPath: () => string | undefined
  readonly #wakeUps = new Map<number, WakeUps>()
  #socket: Socket | undefined
  #isConnected = false
  #isClosed = false
  #connectAfter = 0

  /** `findPath` looks up where the bell of the running writer is; it may be another one each time. */
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

/** Whether somebody listens there. A process that hangs still counts: the kernel answers for it. */
export function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.on('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}

/** Removes the socket file a killed process left. */
export function removeSocketFile(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // It went with its process.
  }
}

function listen(path: string): Promise<Server> {
  const server = createServer()
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, () => resolve(server))
  })
}

/** The shortest limit among systems is 104 bytes with the closing zero. */
const socketPathBytesMax = 100
const unsentBytesMax = 1024
const recheckMs = 100
const pollMs = 25
const reconnectMs = 100
