import { runMcpSession, type SessionContext } from './mcp-session.ts'

/** Keeps `lanes` sessions going until the context says it is over; a finished one makes room for the next customer. */
export async function runTraffic(context: SessionContext, lanes: number): Promise<void> {
  let next = 1
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      while (!context.isOver()) await runMcpSession(context, next++)
    }),
  )
}
