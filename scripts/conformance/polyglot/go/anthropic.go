package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
)

// anthropicMessages is anthropic-sdk-go.
type anthropicMessages struct{}

func (anthropicMessages) name() string   { return "anthropic-sdk-go" }
func (anthropicMessages) module() string { return "github.com/anthropics/anthropic-sdk-go" }
func (anthropicMessages) api() string    { return "messages" }

func (anthropicMessages) status(err error) int {
	var failure *anthropic.Error
	if errors.As(err, &failure) {
		return failure.StatusCode
	}
	return 0
}

func connectAnthropic(at target) anthropic.Client {
	return anthropic.NewClient(option.WithBaseURL(at.address), option.WithAPIKey(at.key))
}

func messageParams(at target) anthropic.MessageNewParams {
	return anthropic.MessageNewParams{
		Model:     anthropic.Model(at.model),
		MaxTokens: 1024,
		Messages: []anthropic.MessageParam{
			anthropic.NewUserMessage(anthropic.NewTextBlock(question)),
		},
	}
}

func (anthropicMessages) create(ctx context.Context, at target) (string, error) {
	return messageText(ctx, at, messageParams(at))
}

func (anthropicMessages) extract(ctx context.Context, at target) (string, error) {
	params := messageParams(at)
	params.OutputConfig.Format = anthropic.JSONOutputFormatParam{Schema: citySchema}
	return messageText(ctx, at, params)
}

func messageText(
	ctx context.Context, at target, params anthropic.MessageNewParams,
) (string, error) {
	client := connectAnthropic(at)
	message, err := client.Messages.New(ctx, params)
	if err != nil {
		return "", err
	}
	return joinText(*message), nil
}

func joinText(message anthropic.Message) string {
	text := ""
	for _, block := range message.Content {
		text += block.Text
	}
	return text
}

func (anthropicMessages) stream(ctx context.Context, at target) (streamed, error) {
	message, err := accumulateMessage(ctx, at, messageParams(at))
	if err != nil {
		return streamed{}, err
	}
	return streamed{joinText(message), string(message.StopReason)}, nil
}

func accumulateMessage(
	ctx context.Context, at target, params anthropic.MessageNewParams,
) (anthropic.Message, error) {
	client := connectAnthropic(at)
	stream := client.Messages.NewStreaming(ctx, params)
	var message anthropic.Message
	for stream.Next() {
		if err := message.Accumulate(stream.Current()); err != nil {
			return message, err
		}
	}
	return message, stream.Err()
}

func (anthropicMessages) useTool(ctx context.Context, at target) (string, error) {
	client := connectAnthropic(at)
	return finishMessage(at, func(params anthropic.MessageNewParams) (anthropic.Message, error) {
		message, err := client.Messages.New(ctx, params)
		if err != nil {
			return anthropic.Message{}, err
		}
		return *message, nil
	})
}

func (anthropicMessages) streamTool(ctx context.Context, at target) (string, error) {
	return finishMessage(at, func(params anthropic.MessageNewParams) (anthropic.Message, error) {
		return accumulateMessage(ctx, at, params)
	})
}

func finishMessage(
	at target, turn func(anthropic.MessageNewParams) (anthropic.Message, error),
) (string, error) {
	params := messageParams(at)
	params.Tools = []anthropic.ToolUnionParam{{
		OfTool: &anthropic.ToolParam{
			Name:        "get_weather",
			Description: anthropic.String("Returns the weather of a city."),
			InputSchema: anthropic.ToolInputSchemaParam{
				Properties: weatherSchema["properties"],
				Required:   []string{"city"},
			},
		},
	}}
	message, err := turn(params)
	if err != nil {
		return "", err
	}
	var results []anthropic.ContentBlockParamUnion
	for _, block := range message.Content {
		if block.Type != "tool_use" {
			continue
		}
		result, err := getWeather(string(block.Input))
		if err != nil {
			return "", err
		}
		results = append(results, anthropic.NewToolResultBlock(block.ID, result, false))
	}
	if len(results) != 1 {
		return "", fmt.Errorf("%d calls", len(results))
	}
	params.Messages = append(params.Messages, message.ToParam(), anthropic.NewUserMessage(results...))
	message, err = turn(params)
	if err != nil {
		return "", err
	}
	return joinText(message), nil
}
