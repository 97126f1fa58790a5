import { Recent } from '@tollgate/platform/memory/recent'
import { isPlainObject } from '@tollgate/schemas/json-object'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { Logger } from '@tollgate/platform/observability/logger'
import { virtualTools } from '@tollgate/schemas/http/mcp'
import type { ServiceReply } from '../services/service-calls.ts'

import type { ServedServer } from './served-server.ts'

type ToolWatchOptions = {
  /** Asks the control plane to list the server's tools anew, and to create and archive their meters. */
  readonly discover: (server: ServedServer) => Promise<ServiceReply>
  /** Milliseconds between two discoveries of one server. */
  readonly pauseMs: number
  readonly clock: Clock
  readonly logger: Logger
}

type Turn = { readonly nextAtMs: number; readonly pauseMs: number }

const serversMax = 10_000
const pauseMsMax = 3_600_000

/** Notices in the lists that pass through that a server has other tools than those known, and has them discovered again. */
export class ToolWatch {
  readonly #options: ToolWatchOptions
  readonly #turns = new Recent<Turn>(serversMax)

  constructor(options: ToolWatchOptions) {
    this.#options = options
  }

  /** `isWhole`: the list has all tools of the server, and is not one page of several. */
  listed(server: ServedServer, tools: readonly unknown[], isWhole: boolean): void {
    const names = new Set(tools.filter(isPlainObject).map(({ name }) => String(name)))
    const known = new Set(
      [...server.tools].filter(([, tool]) => tool.hasVanished !== true).map(([name]) => name),
    )
    const isAdded = [...names].some((name) => !known.has(name) && !virtualTools.has(name))
    const isRemoved = isWhole && [...known].some((name) => !names.has(name))
    if (isAdded || isRemoved) void this.#discover(server)
  }

  async #discover(server: ServedServer): Promise<void> {
    const { discover, pauseMs, clock, logger } = this.#options
    const key = `${server.environment} ${server.reference}`
    const now = clock.now()
    const last = this.#turns.get(key)
    if (last !== undefined && now < last.nextAtMs) return
    this.#turns.set(key, { nextAtMs: now + pauseMs, pauseMs })
    const reply = await discover(server)
    // What failed says nothing of the tools.
    if (reply.kind !== 'replied' || reply.status !== 200) return
    const { added = [], removed = [] } = (isPlainObject(reply.body) ? reply.body : {}) as Discovered
    const { productRef } = server
    if (added.length + removed.length > 0) {
      logger.info({ productRef, added, removed }, 'the tools of an MCP server have changed')
      return
    }
    // Some servers show tools to clients that are able to use them. Those are not there for everybody, and are asked about seldom.
    const longer = Math.min(2 * (last?.pauseMs ?? pauseMs), pauseMsMax)
    this.#turns.set(key, { nextAtMs: now + longer, pauseMs: longer })
  }
}

type Discovered = { readonly added?: readonly string[]; readonly removed?: readonly string[] }
