import { knowsMeterEventSchema, learnMeterEventSchema, schemaIdOf } from './meter-event-codec.ts'
import { currentSchemaId, meterEventSchemas, meterEventTypeOptions } from './meter-event.ts'

/** What a log that has a schema registry must be told of the values in the usage topics, and what it tells the codec. */
export const meterEventValues = {
  /** The name under which the registry keeps the schema and its versions. */
  subject: 'tollgate.usage.MeterEvent',
  /** What new records are written with. */
  schema: JSON.stringify(meterEventSchemas.get(currentSchemaId)),
  /** Its id where there is no registry. */
  embeddedSchemaId: currentSchemaId,
  typeOptions: meterEventTypeOptions(),
  schemaIdOf,
  knows: knowsMeterEventSchema,
  learn: learnMeterEventSchema,
}
