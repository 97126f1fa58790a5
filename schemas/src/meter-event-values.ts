import { knowsMeterEventSchema, learnMeterEventSchema, schemaIdOf } from './meter-event-codec.ts'
import { currentSchemaId, meterEventSchemas, meterEventTypeOptions } from './meter-event.ts'

/** The values of the usage topics, for a log with a schema registry. */
export const meterEventValues = {
  /** The name under which the registry stores the schema and its versions. */
  subject: 'tollgate.usage.MeterEvent',
  /** The schema of new records. */
  schema: JSON.stringify(meterEventSchemas.get(currentSchemaId)),
  /** Id of the schema without a registry. */
  embeddedSchemaId: currentSchemaId,
  typeOptions: meterEventTypeOptions(),
  schemaIdOf,
  knows: knowsMeterEventSchema,
  learn: learnMeterEventSchema,
}
