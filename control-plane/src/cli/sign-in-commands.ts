import { endAllSignIns } from '@tollgate/domain/customer-auth/end-all-sign-ins'
import { environments, type Environment } from '@tollgate/schemas/environment'
import type { CliParts } from './open-cli-parts.ts'

/** Signs all customers out of all clients in both environments, and prints how many records and keys this ended. */
export async function endSignInsCommand({
  database,
  output,
  actorOf,
}: Pick<CliParts, 'database' | 'output' | 'actorOf'>): Promise<void> {
  const ended: { environment: Environment; records: number; keys: number }[] = []
  for (const environment of environments) {
    ended.push({
      environment,
      ...(await endAllSignIns(database.in(environment), actorOf('sign-ins end-all'))),
    })
  }
  output.show({
    json: ended,
    text: ended.map(
      ({ environment, records, keys }) =>
        `${environment}: ${records} grants, tokens and codes ended, ${keys} signing keys removed`,
    ),
  })
}
