package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

// openaiChat is openai-go with chat completions.
type openaiChat struct{}

func (openaiChat) name() string         { return "openai-go" }
func (openaiChat) module() string       { return "github.com/openai/openai-go/v3" }
func (openaiChat) api() string          { return "chat" }
func (openaiChat) status(err error) int { return openaiStatus(err) }

func openaiStatus(err error) int {
	var failure *openai.Error
	if errors.As(err, &failure) {
		return failure.StatusCode
	}
	return 0
}

func connectOpenai(at target) openai.Client {
	return openai.NewClient(option.WithBaseURL(at.address+"/v1"), option.WithAPIKey(at.key))
}

var citySchema = map[string]any{
	"type":                 "object",
	"properties":           map[string]any{"name": map[string]string{"type": "string"}},
	"required":             []string{"name"},
	"additionalProperties": false,
}

var weatherSchema = map[string]any{
	"type":                 "object",
	"properties":           map[string]any{"city": map[string]string{"type": "string"}},
	"required":             []string{"city"},
	"additionalProperties": false,
}

func chatParams(at target) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model:    at.model,
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(question)},
	}
}

func (openaiChat) create(ctx context.Context, at target) (string, error) {
	return completeText(ctx, at, chatParams(at))
}

func (openaiChat) extract(ctx context.Context, at target) (string, error) {
	params := chatParams(at)
	params.ResponseFormat = openai.ChatCompletionNewParamsResponseFormatUnion{
		OfJSONSchema: &openai.ResponseFormatJSONSchemaParam{
			JSONSchema: openai.ResponseFormatJSONSchemaJSONSchemaParam{
				Name:   "city",
				Schema: citySchema,
				Strict: openai.Bool(true),
			},
		},
	}
	return completeText(ctx, at, params)
}

func completeText(
	ctx context.Context, at target, params openai.ChatCompletionNewParams,
) (string, error) {
	client := connectOpenai(at)
	completion, err := client.Chat.Completions.New(ctx, params)
	if err != nil {
		return "", err
	}
	return completion.Choices[0].Message.Content, nil
}

func (openaiChat) stream(ctx context.Context, at target) (streamed, error) {
	completion, err := accumulate(ctx, at, chatParams(at))
	if err != nil || len(completion.Choices) == 0 {
		return streamed{}, err
	}
	choice := completion.Choices[0]
	return streamed{choice.Message.Content, choice.FinishReason}, nil
}

func accumulate(
	ctx context.Context, at target, params openai.ChatCompletionNewParams,
) (openai.ChatCompletion, error) {
	client := connectOpenai(at)
	// Without it the usage comes with an empty choice, whose finish reason the accumulator takes over.
	params.StreamOptions.IncludeUsage = openai.Bool(true)
	stream := client.Chat.Completions.NewStreaming(ctx, params)
	var accumulator openai.ChatCompletionAccumulator
	for stream.Next() {
		if !accumulator.AddChunk(stream.Current()) {
			return accumulator.ChatCompletion, errors.New("the accumulator refuses a chunk")
		}
	}
	return accumulator.ChatCompletion, stream.Err()
}

func (openaiChat) useTool(ctx context.Context, at target) (string, error) {
	client := connectOpenai(at)
	return finishChat(at, func(params openai.ChatCompletionNewParams) (openai.ChatCompletion, error) {
		completion, err := client.Chat.Completions.New(ctx, params)
		if err != nil {
			return openai.ChatCompletion{}, err
		}
		return *completion, nil
	})
}

func (openaiChat) streamTool(ctx context.Context, at target) (string, error) {
	return finishChat(at, func(params openai.ChatCompletionNewParams) (openai.ChatCompletion, error) {
		return accumulate(ctx, at, params)
	})
}

func finishChat(
	at target, turn func(openai.ChatCompletionNewParams) (openai.ChatCompletion, error),
) (string, error) {
	params := chatParams(at)
	params.Tools = []openai.ChatCompletionToolUnionParam{
		openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
			Name:        "get_weather",
			Description: openai.String("Returns the weather of a city."),
			Parameters:  weatherSchema,
			Strict:      openai.Bool(true),
		}),
	}
	completion, err := turn(params)
	if err != nil {
		return "", err
	}
	message := completion.Choices[0].Message
	if len(message.ToolCalls) != 1 {
		return "", fmt.Errorf("%d calls", len(message.ToolCalls))
	}
	call := message.ToolCalls[0]
	result, err := getWeather(call.Function.Arguments)
	if err != nil {
		return "", err
	}
	params.Messages = append(params.Messages, message.ToParam(), openai.ToolMessage(result, call.ID))
	completion, err = turn(params)
	if err != nil {
		return "", err
	}
	return completion.Choices[0].Message.Content, nil
}
