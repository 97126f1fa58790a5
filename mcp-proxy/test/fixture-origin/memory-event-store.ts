import type { EventStore, JSONRPCMessage } from '@modelcontextprotocol/server'

/** Creates a store of the events of one session, so that a client can resume a closed stream. */
export function createMemoryEventStore(): EventStore {
  const events: { readonly streamId: string; readonly message: JSONRPCMessage }[] = []
  return {
    storeEvent: (streamId, message) => Promise.resolve(String(events.push({ streamId, message }))),
    getStreamIdForEventId: (id) => Promise.resolve(events[Number(id) - 1]?.streamId),
    replayEventsAfter: async (lastId, { send }) => {
      const streamId = events[Number(lastId) - 1]?.streamId ?? ''
      for (const [index, event] of [...events].entries()) {
        const isLater = index >= Number(lastId) && event.streamId === streamId
        // The priming event of a stream contains no message.
        if (isLater && 'jsonrpc' in event.message) await send(String(index + 1), event.message)
      }
      return streamId
    },
  }
}
