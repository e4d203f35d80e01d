/** Is a topic of another cluster still the one that is known by that name? Asked by whoever compares ids of source topics. */
import { type Uuid, ZERO_UUID } from '../../core/uuid.ts'

/** Clusters below Kafka 2.8 tell no ids: the zero id may be any topic of the name. */
export const isSameTopicId = (id: Uuid, known: Uuid): boolean => id === known || id === ZERO_UUID || known === ZERO_UUID
