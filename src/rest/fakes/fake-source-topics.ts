/** Topics of a source that a test has written down. */
import type {
  ReturningTopic,
  SourceTopicsApi,
  SourceTopicView,
  TopicExplanation,
} from '../../link/source-topics-api.ts'

export class FakeSourceTopics implements SourceTopicsApi {
  rows: SourceTopicView[] = []
  comingBack: ReturningTopic[] = []

  async list(): Promise<SourceTopicView[]> {
    return this.rows
  }

  async explain(
    linkName: string,
    which: { readonly sourceTopic: string } | { readonly mirrorTopic: string },
  ): Promise<TopicExplanation> {
    const sourceTopicName = 'sourceTopic' in which ? which.sourceTopic : which.mirrorTopic
    const detail = 'No INCLUDE filter matches it.'
    return {
      linkName,
      sourceTopicName,
      mirrorTopicName: sourceTopicName,
      mirrored: false,
      conclusion: `Topic '${sourceTopicName}' is not mirrored: ${detail}`,
      conditions: [{ name: 'INCLUDED_BY_FILTER', answer: 'NO', detail, hint: 'Add a filter.' }],
    }
  }

  returning(): ReturningTopic[] {
    return this.comingBack
  }
}
