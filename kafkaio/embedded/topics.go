package embedded

import (
	"regexp"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// maxPartitions bounds the partitions of a topic; each costs two open files.
const maxPartitions = 4096

// topicName is Kafka's rule for topic names, which kfake does not check.
var topicName = regexp.MustCompile(`^[a-zA-Z0-9._-]{1,249}$`)

func validTopicName(name string) bool {
	return name != "." && name != ".." && topicName.MatchString(name)
}

// createTopics refuses what would harm the broker, and keeps compacted topics
// whole: nothing of them is compacted, and kfake would apply its default
// retention to them.
func createTopics(r *kmsg.CreateTopicsRequest) kmsg.Response {
	codes := make([]int16, len(r.Topics))
	bad := false
	for i := range r.Topics {
		topic := &r.Topics[i]
		switch {
		case !validTopicName(topic.Topic):
			codes[i] = kerr.InvalidTopicException.Code
		case topic.NumPartitions > maxPartitions || len(topic.ReplicaAssignment) > maxPartitions:
			codes[i] = kerr.InvalidPartitions.Code
		}
		bad = bad || codes[i] != 0
		keepCompacted(topic)
	}
	if !bad {
		return nil
	}
	response := r.ResponseKind().(*kmsg.CreateTopicsResponse)
	for i := range r.Topics {
		answer := kmsg.NewCreateTopicsResponseTopic()
		answer.Topic, answer.ErrorCode = r.Topics[i].Topic, codes[i]
		if answer.ErrorCode == 0 {
			answer.ErrorCode = kerr.OperationNotAttempted.Code
		}
		response.Topics = append(response.Topics, answer)
	}
	return response
}

func keepCompacted(topic *kmsg.CreateTopicsRequestTopic) {
	compacted, retention := false, -1
	for i, config := range topic.Configs {
		switch config.Name {
		case "cleanup.policy":
			compacted = config.Value != nil && strings.TrimSpace(*config.Value) == "compact"
		case "retention.ms":
			retention = i
		}
	}
	if !compacted {
		return
	}
	if retention < 0 {
		retention = len(topic.Configs)
		topic.Configs = append(topic.Configs, kmsg.NewCreateTopicsRequestTopicConfig())
		topic.Configs[retention].Name = "retention.ms"
	}
	topic.Configs[retention].Value = kmsg.StringPtr("-1")
}

func createPartitions(r *kmsg.CreatePartitionsRequest) kmsg.Response {
	bad := false
	for _, topic := range r.Topics {
		bad = bad || topic.Count > maxPartitions
	}
	if !bad {
		return nil
	}
	response := r.ResponseKind().(*kmsg.CreatePartitionsResponse)
	for _, topic := range r.Topics {
		answer := kmsg.NewCreatePartitionsResponseTopic()
		answer.Topic, answer.ErrorCode = topic.Topic, kerr.InvalidPartitions.Code
		response.Topics = append(response.Topics, answer)
	}
	return response
}

const fixedSettings = "the settings of the embedded broker are fixed"

// alterConfigs refuses changes of the broker's own settings: the guards
// against kfake's cleaner are among them.
func alterConfigs(r *kmsg.AlterConfigsRequest) kmsg.Response {
	bad := false
	for _, resource := range r.Resources {
		bad = bad || resource.ResourceType == kmsg.ConfigResourceTypeBroker
	}
	if !bad {
		return nil
	}
	response := r.ResponseKind().(*kmsg.AlterConfigsResponse)
	for _, resource := range r.Resources {
		answer := kmsg.NewAlterConfigsResponseResource()
		answer.ResourceType, answer.ResourceName = resource.ResourceType, resource.ResourceName
		answer.ErrorCode, answer.ErrorMessage = kerr.PolicyViolation.Code, kmsg.StringPtr(fixedSettings)
		response.Resources = append(response.Resources, answer)
	}
	return response
}

func incrementalAlterConfigs(r *kmsg.IncrementalAlterConfigsRequest) kmsg.Response {
	bad := false
	for _, resource := range r.Resources {
		bad = bad || resource.ResourceType == kmsg.ConfigResourceTypeBroker
	}
	if !bad {
		return nil
	}
	response := r.ResponseKind().(*kmsg.IncrementalAlterConfigsResponse)
	for _, resource := range r.Resources {
		answer := kmsg.NewIncrementalAlterConfigsResponseResource()
		answer.ResourceType, answer.ResourceName = resource.ResourceType, resource.ResourceName
		answer.ErrorCode, answer.ErrorMessage = kerr.PolicyViolation.Code, kmsg.StringPtr(fixedSettings)
		response.Resources = append(response.Resources, answer)
	}
	return response
}
