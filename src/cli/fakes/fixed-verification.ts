/** The verification that the fixed node of the golden tests has always just ended. */

const part = (partition: number, change: object) => ({
  partition,
  state: 'EQUAL',
  method: 'BATCHES',
  from_offset: 0,
  to_offset: 4998,
  next_offset: 4998,
  compared_bytes: 524_288,
  compared_batches: 120,
  compared_records: 4998,
  records_only_at_source: 0,
  records_only_at_mirror: 0,
  difference: null,
  not_compared: [],
  message: null,
  ...change,
})

export const FIXED_VERIFICATION = {
  kind: 'KafkaMirrorVerification',
  metadata: { self: '', resource_name: null },
  link_name: 'west',
  verification_id: 'v-1',
  state: 'COMPLETED',
  outcome: 'DIFFERENT',
  start_time_ms: 1_795_998_664_931,
  end_time_ms: 1_795_998_665_931,
  total_offsets: 9996,
  done_offsets: 9996,
  compared_bytes: 1_048_576,
  compared_batches: 240,
  compared_records: 9996,
  topics: [
    {
      mirror_topic_name: 'orders',
      source_topic_name: 'orders',
      error_code: null,
      error_message: null,
      partitions: [
        part(0, {}),
        part(1, {
          state: 'DIFFERENT',
          compared_records: 17,
          compared_batches: 2,
          difference: { offset: 17, message: 'the CRC is 0x1a2b3c4d at the source and 0x00000000 here' },
        }),
      ],
    },
    {
      mirror_topic_name: 'gone',
      source_topic_name: null,
      error_code: 40403,
      error_message: "Link 'west' has no mirror topic 'gone'.",
      partitions: [],
    },
  ],
}
