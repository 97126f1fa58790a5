import { Recent } from '@tollgate/platform/memory/recent'
import { isPlainObject } from '@tollgate/schemas/json-object'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { Logger } from '@tollgate/platform/observability/logger'
import { virtualTools } from '@tollgate/schemas/http/mcp'
import type { ServiceReply } from '../services/service-calls.ts'

import type { ServedServer } from './served-server.ts'

type ToolWatchOptions = {
  /** Requests a new discovery from the control plane, which lists the server's tools, and creates and archives their meters. */
  readonly discover: (server: ServedServer) => Promise<ServiceReply>
  /** Milliseconds between two discoveries of one server. */
  readonly pauseMs: number
  readonly clock: Clock
  readonly logger: Logger
}

type Turn = { readonly nextAtMs: number; readonly pauseMs: number }

const serversMax = 10_000
const pauseMsMax = 3_600_000

/** Compares the tool lists that pass through the proxy with the known tools, and starts a discovery if they differ. */
export class ToolWatch {
  readonly #options: ToolWatchOptions
  readonly #turns = new Recent<Turn>(serversMax)

  constructor(options: ToolWatchOptions) {
    this.#options = options
  }

  /** Processes a list. `isWhole`: the list contains all tools of the server and is not one of several pages. */
  onListed(server: ServedServer, tools: readonly unknown[], isWhole: boolean): void {
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
    // A failed discovery says nothing about the tools.
    if (reply.kind !== 'replied' || reply.status !== 200) return
    const { added = [], removed = [] } = (isPlainObject(reply.body) ? reply.body : {}) as Discovered
    const { productRef } = server
    if (added.length + removed.length > 0) {
      logger.info({ productRef, added, removed }, 'the tools of an MCP server have changed')
      return
    }
    // Some servers show certain tools only to some clients. A discovery does not find those tools, so the pause before the next one
    // is doubled.
    const longer = Math.min(2 * (last?.pauseMs ?? pauseMs), pauseMsMax)
    this.#turns.set(key, { nextAtMs: now + longer, pauseMs: longer })
  }
}

type Discovered = { readonly added?: readonly string[]; readonly removed?: readonly string[] }
