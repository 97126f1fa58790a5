import type { EventStore, JSONRPCMessage } from '@modelcontextprotocol/server'

/** Events of one session, so that a client can resume a stream that was closed. */
export function createMemoryEventStore(): EventStore {
  const events: { readonly streamId: string; readonly message: JSONRPCMessage }[] = []
  return {
    storeEvent: (streamId, message) => Promise.resolve(String(events.push({ streamId, message }))),
    getStreamIdForEventId: (id) => Promise.resolve(events[Number(id) - 1]?.streamId),
    replayEventsAfter: async (lastId, { send }) => {
      const streamId = events[Number(lastId) - 1]?.streamId ?? ''
      for (const [index, event] of [...events].entries()) {
        const isLater = index >= Number(lastId) && event.streamId === streamId
        // The priming event of a stream has no message of its own.
        if (isLater && 'jsonrpc' in event.message) await send(String(index + 1), event.message)
      }
      return streamId
    },
  }
}
