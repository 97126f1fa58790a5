import { integerSetting } from '@tollgate/platform/config/settings'
import { reservationSecondsMax } from '@tollgate/schemas/limits'

/** Limits of reservations. All services that reserve should have the same values. */
export const reservationSettings = {
  reservationSecondsMax: integerSetting(
    'TOLLGATE_RESERVATION_SECONDS_MAX',
    'Maximum seconds for which a reservation may hold units',
    3_600,
    { min: 1, max: reservationSecondsMax },
  ),
  reservationsMax: integerSetting(
    'TOLLGATE_RESERVATIONS_MAX',
    'Maximum open reservations of one customer and product; a further one is answered with 503',
    100_000,
    { min: 1, max: 10_000_000 },
  ),
}
